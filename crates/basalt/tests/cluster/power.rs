//! The power goes while a volume is written to: what a flush covered is there afterwards, whichever
//! connection asked for it.
//!
//! The disks are those of `basalt bench chaos`, which lose each 4 KiB that was not flushed, or not.
//! It takes root, `/dev/fuse`, and the programs `mount` and `unshare`.

#[path = "../../../bench/src/cluster/disks/store.rs"]
#[expect(dead_code, reason = "these disks refuse nothing")]
mod store;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use stdx::random::Random;
use stdx::testing::skip;

use self::store::Store;
use crate::BLOCK;
use crate::fuse;
use crate::harness::Cluster;

/// Each in a lane and an extent of its own.
const PLACES: u64 = 12;
const APART: u64 = 4 << 20;

/// A disk with a cache, until this is dropped.
struct Volatile {
    point: PathBuf,
    store: Arc<Mutex<Store>>,
}

impl Volatile {
    /// In the place of a file, whose bytes it has.
    fn over(point: &Path, seed: u64) -> io::Result<Self> {
        let below = File::options().read(true).write(true).open(point)?;
        let mut device = fuse::mount(point, "volatile-disk")?;
        let store = Arc::new(Mutex::new(Store::new(below, 0, Random::new(seed)).unwrap()));
        thread::spawn({
            let store = Arc::clone(&store);
            move || {
                let mut room = fuse::room();
                while let Some(request) = fuse::next(&device, &mut room) {
                    let reply = fuse::answer(request, &mut *store.lock().unwrap());
                    // Nobody waits any more for a request that the kernel gave up.
                    drop(reply.map(|reply| device.write_all(&reply)));
                }
            }
        });
        Ok(Self { point: point.to_owned(), store })
    }
}

impl Drop for Volatile {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.point).output());
    }
}

/// A daemon that is told of another kernel boot knows that its disk lost what was in a cache.
fn boot_anew(cluster: &Cluster, index: usize) {
    let id = format!("{:032x}\n", ::io::random_u128());
    fs::write(boot_file(cluster, index), id).unwrap();
}

fn boot_file(cluster: &Cluster, index: usize) -> PathBuf {
    cluster.directory.path().join(format!("boot{index}"))
}

/// Three nodes that lose their power with what their disks did not flush.
fn prepare() -> Option<(Cluster, Vec<Volatile>)> {
    let mut cluster = Cluster::prepare(3, 0);
    let disks = (0..3).map(|index| Volatile::over(&cluster.disk(index), index as u64));
    let disks: Vec<Volatile> = match disks.collect() {
        Ok(disks) => disks,
        Err(error) => {
            skip(&format!("a disk that forgets takes root and /dev/fuse: {error}"));
            return None;
        }
    };
    for index in 0..3 {
        boot_anew(&cluster, index);
        let script = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"";
        let file = boot_file(&cluster, index).display().to_string();
        let entry = ["unshare", "--mount", "sh", "-c", script, &file];
        cluster.nodes[index].entry = entry.map(str::to_owned).to_vec();
    }
    Some((cluster, disks))
}

#[test]
fn a_flush_on_one_connection_keeps_the_writes_of_another_over_a_loss_of_power() {
    let Some((mut cluster, disks)) = prepare() else { return };
    cluster.begin();
    cluster.make_in_sync();
    let (mut one, mut two) = (cluster.client(0), cluster.client(0));
    assert!(one.export().may_use_many_connections());
    for place in 0..PLACES {
        one.write(place * APART, &[3; BLOCK]).unwrap();
    }
    two.flush().unwrap();
    // What nobody flushed shows that the disks do forget.
    for place in 0..PLACES {
        one.write(place * APART + BLOCK as u64, &[4; BLOCK]).unwrap();
    }
    (0..3).for_each(|index| cluster.kill(index));
    let mut lost_bytes = 0;
    for (index, disk) in disks.iter().enumerate() {
        let mut store = disk.store.lock().unwrap();
        store.cut_power().unwrap();
        lost_bytes += store.lost_bytes;
        boot_anew(&cluster, index);
    }
    assert!(lost_bytes > 0, "nothing was lost: this shows nothing");
    (0..3).for_each(|index| cluster.launch(index));
    cluster.wait_up_to_date(0);
    // What was not flushed was acknowledged, too.
    let refusal = cluster.poll(0, "refusal", || cluster.connect(0).err()).to_string();
    assert!(refusal.contains("writes may be lost"), "{refusal}");
    cluster.adm_ok(0, &["reopen", "r0"]);
    let mut three = cluster.client(0);
    for place in 0..PLACES {
        let mut block = [0; BLOCK];
        three.read(place * APART, &mut block).unwrap();
        assert_eq!(block, [3; BLOCK], "block {place} was flushed");
    }
    three.close().unwrap();
}
