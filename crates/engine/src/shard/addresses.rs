//! The own addresses of a resource, at which its peers find this node.

use api::response::Failure;

use crate::definition::Definition;
use crate::shard::Rim;
use crate::shard::refusals::address_failure;

/// The addresses at which this node is to be reached for the resource, each once.
pub fn own_addresses(definition: &Definition) -> Vec<std::net::SocketAddr> {
    let mut addresses: Vec<_> =
        definition.peers().flat_map(|member| &member.paths).map(|(local, _)| *local).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

pub(super) fn listen(definition: &Definition, rim: &mut Rim) -> Result<(), Failure> {
    let addresses = own_addresses(definition);
    for (index, address) in addresses.iter().enumerate() {
        if let Err(error) = rim.links.listen(*address, &mut rim.kit) {
            for address in &addresses[..index] {
                rim.links.unlisten(*address, &mut rim.kit);
            }
            return Err(address_failure(&error));
        }
    }
    Ok(())
}
