//! Requests of any bytes: clients need not know of sectors or blocks.
//!
//! A block that is written in part is read, changed and written by its lane, which lets nothing
//! else at that block meanwhile, whoever asked for it.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use frontend::nbd::client::{Connection, Wishes};
use frontend::nbd::wire::{CMD_FLAG_FUA, CMD_FLAG_NO_HOLE, Command as Ask, ReplyForm};
use stdx::child::HeldChild;
use stdx::random::Random;
use stdx::testing::skip;

use crate::BLOCK;
use crate::harness::Cluster;

/// Where requests meet: some parts of data, and the border of two extents among them.
const BEGIN: usize = (4 << 20) - (384 << 10);
const END: usize = (4 << 20) + (384 << 10);

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

/// Some bytes near a border of blocks, parts or extents; of few blocks, or of some parts.
fn some_range(random: &mut Random, size: usize) -> std::ops::Range<usize> {
    let longest = *random.pick(&[3, 600, 3 * BLOCK, 300 << 10]).unwrap();
    let length = 1 + usize_of(random.below(longest as u64));
    if random.chance(1, 8) {
        // The last bytes of the volume.
        return size - length..size;
    }
    let blocks = usize_of(random.below(((END - BEGIN) / BLOCK) as u64));
    let near = usize_of(random.below(8));
    let start = BEGIN + blocks * BLOCK + near - 4;
    start..start + length
}

/// One request, of the volume and of the array that it is to be like.
fn ask(client: &mut Connection, random: &mut Random, model: &mut [u8]) {
    let range = some_range(random, model.len());
    let (offset, length) = (range.start as u64, range.len() as u64);
    let fua = if random.chance(1, 8) { CMD_FLAG_FUA } else { 0 };
    match random.below(8) {
        0 => {
            client.call(Ask::Trim, fua, offset, length, &[]).unwrap();
            let whole = range.start.next_multiple_of(BLOCK)..range.end / BLOCK * BLOCK;
            if !whole.is_empty() {
                model[whole].fill(0);
            }
        }
        1 => {
            let kind = *random.pick(&[0, CMD_FLAG_NO_HOLE]).unwrap();
            client.call(Ask::WriteZeroes, kind | fua, offset, length, &[]).unwrap();
            model[range].fill(0);
        }
        2..5 => {
            let mut bytes = vec![0; range.len()];
            client.read(offset, &mut bytes).unwrap();
            assert!(bytes == model[range.clone()], "{range:?} reads as something else");
        }
        _ => {
            let mut byte = random.next_u64().to_le_bytes()[0];
            for place in &mut model[range.clone()] {
                *place = byte;
                byte = byte.wrapping_mul(5).wrapping_add(1);
            }
            client.call(Ask::Write, fua, offset, length, &model[range]).unwrap();
        }
    }
    if random.chance(1, 16) {
        client.flush().unwrap();
    }
}

fn session(cluster: &Cluster, index: usize, replies: ReplyForm) -> Connection {
    let wishes = Wishes { replies, ..Wishes::default() };
    cluster.poll(index, "NBD session", || Connection::open(&cluster.uri(index), &wishes).ok())
}

/// The Primary with a disk and the one without, and the forms of replies.
#[test]
fn random_bytes_are_as_in_an_array() {
    let cluster = Cluster::start_in_sync(3, 1);
    let size = cluster.client(0).export().size_bytes;
    let mut model = vec![0; usize_of(size)];
    for (seed, (index, replies)) in
        [(0, ReplyForm::Extended), (2, ReplyForm::Structured), (2, ReplyForm::Simple)]
            .into_iter()
            .enumerate()
    {
        println!("seed {seed}: node {index}, {replies:?}");
        let mut random = Random::new(seed as u64);
        cluster.adm_ok(2 - index, &["secondary", "r0"]);
        let mut client = session(&cluster, index, replies);
        assert_eq!(client.export().block_min_bytes, 1);
        for _ in 0..300 {
            ask(&mut client, &mut random, &mut model);
        }
        let mut all = vec![0; model.len()];
        for (chunk, at) in all.chunks_mut(16 << 20).zip((0..).step_by(16 << 20)) {
            client.read(at, chunk).unwrap();
        }
        assert!(all == model, "seed {seed}");
        client.close().unwrap();
    }
    assert!(cluster.data(0, size) == model);
    cluster.assert_replicas_equal(size);
}

/// Each session has bytes of its own in the same blocks, and one writes blocks beside them as
/// wholes: nothing of any of them is lost, whose blocks were read for another's bytes meanwhile.
#[test]
fn sessions_that_write_into_one_block_lose_nothing_of_each_other() {
    const SESSIONS: usize = 4;
    const ROUNDS: u8 = 150;
    let cluster = Cluster::start_in_sync(3, 0);
    let mut clients: Vec<_> = (0..=SESSIONS).map(|_| cluster.client(0)).collect();
    let whole = clients.pop().unwrap();
    let last = clients[0].export().size_bytes - BLOCK as u64;
    // Two blocks at whose border bytes of all of them lie, and the last block of the volume.
    let places = [4096 - 2 * SESSIONS as u64, last];
    thread::scope(|scope| {
        for (number, mut client) in clients.into_iter().enumerate() {
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    for place in places {
                        // Every other four bytes, so that each session has some in either block.
                        for at in [0, SESSIONS as u64, 2 * SESSIONS as u64, 3 * SESSIONS as u64] {
                            let own = place + at + number as u64;
                            client.write(own, &[round]).unwrap();
                            let mut byte = [0];
                            client.read(own, &mut byte).unwrap();
                            assert_eq!(byte, [round], "the byte at {own} of session {number}");
                        }
                    }
                }
            });
        }
        // Whole blocks around the second: each read for a write across their border.
        let mut whole = whole;
        scope.spawn(move || {
            for round in 1..=ROUNDS {
                let offset = 1 << 20;
                whole.write(offset, &[round; BLOCK]).unwrap();
                whole.write(offset + BLOCK as u64, &[round; BLOCK]).unwrap();
                let mut both = [0; 2 * BLOCK];
                whole.read(offset, &mut both).unwrap();
                let torn = both.iter().position(|byte| *byte != round && *byte != 0xEE);
                assert_eq!(torn, None, "a whole block was undone in round {round}");
            }
        });
        let mut across = cluster.client(0);
        scope.spawn(move || {
            for _ in 0..u16::from(ROUNDS) * 3 {
                across.write((1 << 20) + BLOCK as u64 - 3, &[0xEE; 6]).unwrap();
            }
        });
    });
    let mut client = cluster.client(0);
    for place in places {
        let mut bytes = [0; 4 * SESSIONS];
        client.read(place, &mut bytes).unwrap();
        assert_eq!(bytes, [ROUNDS; 4 * SESSIONS], "what all of them wrote at {place}");
    }
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// What a tool said, which ended well; nothing where it is not installed.
fn run(missing: &mut Vec<String>, program: &str, words: &[&str]) -> Option<Output> {
    let mut command = Command::new(program);
    // nbdsh takes the first Python that it finds, and its module is that of the system's.
    match command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").args(words).output() {
        Ok(output) => {
            assert!(output.status.success(), "{program} {words:?}: {output:?}");
            Some(output)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            missing.push(format!("{program} is not installed"));
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

/// The volume as a file, whose bytes any program may write.
fn through_fuse(cluster: &Cluster, missing: &mut Vec<String>) {
    let file = cluster.directory.path().join("volume");
    fs::write(&file, []).unwrap();
    let spawned = Command::new("nbdfuse").arg(&file).arg(cluster.uri(0).to_string()).spawn();
    let Ok(daemon) = spawned else { return missing.push("nbdfuse is not installed".to_owned()) };
    let mut daemon = HeldChild::from(daemon);
    let mounted = Mounted(&file);
    cluster.poll(0, "mount of nbdfuse", || {
        assert_eq!(daemon.try_wait().unwrap(), None, "nbdfuse ended");
        (fs::metadata(&file).unwrap().len() > 0).then_some(())
    });
    let volume = File::options().read(true).write(true).open(&file).unwrap();
    volume.write_all_at(b"odd", (2 << 20) + 4095).unwrap();
    volume.write_all_at(&vec![0x5A; 100_001], (2 << 20) + 8191).unwrap();
    volume.sync_all().unwrap();
    let mut bytes = [0; 5];
    volume.read_exact_at(&mut bytes, (2 << 20) + 4094).unwrap();
    assert_eq!(bytes, *b"\0odd\0");
    volume.read_exact_at(&mut bytes, (2 << 20) + 8191 + 100_001 - 4).unwrap();
    assert_eq!(bytes, *b"ZZZZ\0");
    drop(volume);
    drop(mounted);
    cluster.poll(0, "end of nbdfuse", || daemon.try_wait().unwrap().map(drop));
}

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || thread::panicking());
    }
}

#[test]
fn programs_that_know_of_no_blocks_work() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.client(0).close().unwrap();
    let uri = cluster.uri(0).to_string();
    let mut missing = Vec::new();
    if let Some(said) = run(&mut missing, "nbdinfo", &[&uri]) {
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains("block_size_minimum: 1\n"), "{said}");
        assert!(said.contains("block_size_preferred: 4096"), "{said}");
    }
    let script = "h.pwrite(b'x' * 3, 4095); h.pwrite(b'y', 4097, nbd.CMD_FLAG_FUA); \
                  h.zero(1, 4096); h.trim(5000, 1); h.flush(); \
                  got = bytes(h.pread(5, 4094)); assert got == b'\\0x\\0y\\0', got; \
                  end = h.get_size(); h.pwrite(b'end', end - 3); \
                  got = bytes(h.pread(4, end - 4)); assert got == b'\\0end', got";
    run(&mut missing, "nbdsh", &["-u", &uri, "-c", script]);
    let write = "write -P 0x41 1048577 8191";
    let (read, before) = ("read -P 0x41 1048577 8191", "read -P 0 1048576 1");
    let said = run(
        &mut missing,
        "qemu-io",
        &["-f", "raw", "-c", write, "-c", read, "-c", before, "-c", "discard 1 70001", &uri],
    );
    if let Some(said) = said {
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains("wrote 8191/8191") && !said.contains("failed"), "{said}");
    }
    // A file of odd length over the volume's beginning.
    let image = cluster.directory.path().join("image");
    let content: Vec<u8> = (0..1_000_003_u32).map(|at| at.to_le_bytes()[0] | 1).collect();
    fs::write(&image, &content).unwrap();
    let copied = run(&mut missing, "nbdcopy", &["--flush", image.to_str().unwrap(), &uri]);
    through_fuse(&cluster, &mut missing);
    let mut client = cluster.client(0);
    client.set_read_timeout(Duration::from_secs(60)).unwrap();
    if copied.is_some() {
        let mut back = vec![0; content.len() + 1];
        client.read(0, &mut back).unwrap();
        assert!(back[..content.len()] == content, "nbdcopy copies all");
        assert_eq!(back.last(), Some(&0), "and nothing behind it");
    }
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    if !missing.is_empty() {
        skip(&missing.join("; "));
    }
}
