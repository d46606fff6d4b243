//! The sizes of the buffers that the kernel keeps for a link: `sndbuf-size` and `rcvbuf-size`.
//!
//! Where no file says a size the kernel finds one by itself, which is best nearly always. A link is
//! shared by the resources of a pair of nodes: the largest size that one asks for holds.

use format::message::LinkClass;
use io::SocketBuffers;

use crate::kit::Kit;
use crate::links::{Link, Links};
use crate::log::{Scope, log};
use crate::slab::Key;

impl Link {
    fn buffers(&self) -> SocketBuffers {
        let asked = || self.named.iter().map(|named| named.buffers);
        SocketBuffers {
            send_bytes: asked().filter_map(|it| it.send_bytes).max(),
            receive_bytes: asked().filter_map(|it| it.receive_bytes).max(),
        }
    }
}

impl Links {
    /// Of a connection that is up.
    pub(super) fn size_buffers(&self, index: usize, key: Key, kit: &mut Kit) {
        let link = &self.links[index];
        let Some(connection) = self.connections.get(key) else { return };
        let (Some(socket), LinkClass::Data) = (connection.socket, connection.class) else { return };
        let wanted = link.buffers();
        if wanted != SocketBuffers::default()
            && let Err(error) = kit.reactor.set_buffers(socket, wanted)
        {
            let scope = Scope::peer(&link.name);
            log!(Warning, scope, "sndbuf-size and rcvbuf-size cannot be set: {error}");
        }
    }

    /// The options changed: of all connections of this shard.
    pub(super) fn resize_buffers(&self, index: usize, kit: &mut Kit) {
        for key in self.links[index].pipes.iter().filter_map(|pipe| pipe.connection) {
            self.size_buffers(index, key, kit);
        }
    }
}
