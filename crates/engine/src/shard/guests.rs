//! Orders of the threads that speak with virtual machines.

use crate::clients::vhost::{Facts, GuestOrder};
use crate::hosted_id::HostedId;
use crate::shard::Shard;

impl Shard {
    pub(super) fn on_guest_order(&mut self, order: GuestOrder) {
        if let GuestOrder::Start(new) = &order
            && self.part(new.hosted).is_none()
        {
            // What its rings hold would never be answered, nor given back.
            return new.line.cut("the resource went down".to_owned());
        }
        let (vhost, kit) = (&mut self.rim.vhost, &mut self.rim.kit);
        match order {
            GuestOrder::Open { resource, place, line, pid } => match self.find(&resource) {
                Some(id) => self.rim.vhost.open((id, place), line, pid),
                None => line.refuse("the resource is not up"),
            },
            GuestOrder::Start(new) => vhost.start_ring(*new, kit),
            GuestOrder::Stop { session, ring } => vhost.stop_ring(session, ring),
            GuestOrder::SetCall { line, ring, call } => vhost.set_call(&line, ring, call, kit),
            GuestOrder::SetMemory { line, memory } => vhost.set_memory(&line, &memory, kit),
            GuestOrder::SetCache { line, cache } => vhost.set_cache(&line, cache, kit),
            GuestOrder::SetSize { line, size_bytes } => vhost.set_size(&line, size_bytes, kit),
            GuestOrder::Close { line } => vhost.close(&line, kit),
        }
    }

    /// Serves the virtual machines that wait for the resource, which is Primary.
    pub(super) fn admit_guests(&mut self, id: HostedId) {
        let Some(hosted) = self.hosted(id) else { return };
        let (space, reign) = (hosted.space, hosted.resource.reign());
        let blocks = |place| (place, hosted.definition.block_bytes(place));
        let places: Vec<_> = space.places().map(blocks).collect();
        let vhost = &mut self.rim.vhost;
        let Some(reign) = reign else { return vhost.refuse(id, "this node is not Primary") };
        for (place, block_bytes) in places {
            let size_bytes = space.bytes_at(place);
            vhost.admit(Facts { hosted: id, place, size_bytes, block_bytes, reign });
        }
        vhost.refuse(id, "the size of the volume is not known");
    }
}
