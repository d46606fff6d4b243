//! Where the parts of clients' requests go: each to the shard of its lane.

use replication::contract::{GroupInput, Request, RequestKind};

use crate::contract::Cross;
use crate::hosted_id::HostedId;
use crate::placement;
use crate::shard::demand::Answered;
use crate::shard::{Input, Shard};

impl Shard {
    /// Hands a part of a client's request to the shard of its lane.
    pub(super) fn submit(&mut self, hosted: HostedId, request: Request) {
        let shard = self.shard_of(hosted, request.offset);
        let is_here = shard == self.rim.mesh.me();
        let is_for_members = is_here && request.kind != RequestKind::Read;
        self.demand.on_request(if is_for_members {
            Answered::ByMembers
        } else {
            Answered::Otherwise
        });
        if is_here {
            self.rim.inbox.push_back((hosted, Input::Group(GroupInput::Request(request))));
            return;
        }
        let loan = match request.kind {
            RequestKind::Write { payload, .. } => Some(self.rim.kit.lend(payload)),
            RequestKind::Read | RequestKind::Discard { .. } | RequestKind::Zeroes { .. } => None,
        };
        self.rim.tell(shard, Cross::Request { hosted, request, loan });
    }

    fn shard_of(&self, hosted: HostedId, offset: u64) -> u8 {
        let mesh = &self.rim.mesh;
        match self.part(hosted) {
            Some(part) if !mesh.is_alone() => {
                placement::shard_of_offset(offset, part.lanes, mesh.shards())
            }
            Some(_) | None => mesh.me(),
        }
    }

    /// One that another shard handed over.
    pub(super) fn on_request(
        &mut self,
        hosted: HostedId,
        mut request: Request,
        loan: Option<io::Loan>,
    ) {
        if let (RequestKind::Write { payload, .. }, Some(loan)) = (&mut request.kind, loan) {
            *payload = self.rim.kit.borrow(loan);
        }
        self.rim.inbox.push_back((hosted, Input::Group(GroupInput::Request(request))));
    }
}
