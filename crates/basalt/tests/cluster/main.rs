//! Daemons as real processes: what is written through one is on all, whoever dies.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod harness;
mod variant;
mod load;
mod relay;
mod frozen;
mod cut_off;
#[path = "../../src/cluster/disks/fuse.rs"]
mod fuse;
mod deaf;
mod volume;
mod unaligned;
mod reads;
mod adjust;
mod stepwise;
mod members;
mod leaves;
mod given_up;
mod made_anew;
mod suspends;
mod times;
mod followers;
mod counters;
mod metrics;
mod protocols;
mod reopen;
mod startup;
mod handlers;
mod faults;
mod forks;
mod foreign;
mod fencing;
mod first_disk;
mod promoter;
mod paths;
mod buffers;
mod crowd;
mod arrivals;
mod addresses;
mod networks;
mod host_names;
mod disks;
mod hung_disks;
mod power;
mod several;
mod shards;
mod tls;
mod added;
mod adopt_drbd;
mod adopt;
mod transcript;
mod tools;
mod holes;
mod resync;
mod resync_order;
mod resize;
mod initiator;
mod nvme;
#[path = "../../../frontend/tests/nvme/host.rs"]
mod nvme_host;
mod nvme_auth;
mod machine;
mod mapped;
mod vhost;

const BLOCK: usize = 4096;
