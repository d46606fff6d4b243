//! Our client against a server of other make: nbdkit, which speaks over its standard streams, so
//! that no port and no waiting is needed.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use frontend::nbd::client::{ClientError, Connection, Request, Stream};
use frontend::nbd::wire::{Command, Errno, Extent, ReplyForm, STATE_HOLE, STATE_ZERO};
use stdx::testing::skip;

use crate::two_party::wishes;

const SIZE: u64 = 64 << 20;

fn nbdkit(plugin: &[&str]) -> Option<(Stream, Child)> {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let child = Process::new("nbdkit")
        .arg("-s")
        .args(plugin)
        .stdin(Stdio::from(OwnedFd::from(theirs.try_clone().unwrap())))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .spawn();
    match child {
        Ok(child) => Some((Stream::Unix(ours), child)),
        Err(error) => {
            skip(&format!("nbdkit does not run here: {error}"));
            None
        }
    }
}

#[test]
fn writes_come_back_in_every_form_of_replies() {
    for form in [ReplyForm::Simple, ReplyForm::Structured, ReplyForm::Extended] {
        let Some((stream, mut child)) = nbdkit(&["memory", "64M"]) else { return };
        let mut disk = Connection::over(stream, "", &wishes(form)).unwrap();
        assert_eq!(disk.export().size_bytes, SIZE);
        assert_eq!(disk.export().replies == ReplyForm::Simple, form == ReplyForm::Simple);
        disk.write(8192, &[7; 4096]).unwrap();
        disk.write_durably(SIZE - 512, &[9; 512]).unwrap();
        disk.flush().unwrap();
        let mut back = vec![1; 16384];
        disk.read(0, &mut back).unwrap();
        assert!(back[..8192].iter().all(|byte| *byte == 0));
        assert!(back[8192..12288].iter().all(|byte| *byte == 7));
        disk.write_zeroes(8192, 4096, 0).unwrap();
        disk.trim(SIZE - 65536, 65536).unwrap();
        disk.read(8192, &mut back).unwrap();
        assert!(back.iter().all(|byte| *byte == 0));
        disk.close().unwrap();
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn block_status_tells_holes_from_data() {
    let Some((stream, mut child)) = nbdkit(&["memory", "64M"]) else { return };
    let mut disk = Connection::over(stream, "", &wishes(ReplyForm::Structured)).unwrap();
    disk.write(0, &[7; 65536]).unwrap();
    let extents = disk.block_status(0, SIZE).unwrap();
    assert_eq!(extents[0].state, 0);
    assert_eq!(extents[1].state, STATE_HOLE | STATE_ZERO);
    assert_eq!(extents.iter().map(|extent| extent.length_bytes).sum::<u64>(), SIZE);
    let one = disk.block_status_one(0, 4096).unwrap();
    assert_eq!(one, Extent { length_bytes: 4096, state: 0 });
    disk.close().unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_refused_request_leaves_the_connection_alive() {
    let Some((stream, mut child)) = nbdkit(&["-r", "memory", "64M"]) else { return };
    let mut disk = Connection::over(stream, "", &wishes(ReplyForm::Structured)).unwrap();
    assert!(disk.export().is_read_only());
    let error = disk.write(0, &[7; 512]).unwrap_err();
    let told = error.to_string();
    assert!(matches!(error, ClientError::Failed { errno: Errno::NotPermitted, .. }), "{told}");
    assert!(told.contains("write of 512 bytes at 0 failed: EPERM"), "{told}");
    disk.read(0, &mut [0; 512]).unwrap();
    disk.close().unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn many_requests_are_in_flight_at_once() {
    let Some((stream, mut child)) = nbdkit(&["memory", "64M"]) else { return };
    let disk = Connection::over(stream, "", &wishes(ReplyForm::Structured)).unwrap();
    let (mut sender, mut receiver, _) = disk.split();
    const COUNT: u64 = 500;
    let request = |command, cookie| Request {
        command,
        flags: 0,
        cookie,
        offset: cookie * 4096,
        length: 4096,
    };
    let receiving = std::thread::spawn(move || {
        let mut reads = 0;
        for _ in 0..2 * COUNT {
            let reply = receiver.recv_reply().unwrap();
            assert_eq!(reply.error, None);
            reads += u64::from(reply.request.command == Command::Read);
        }
        assert_eq!(reads, COUNT);
        receiver
    });
    for cookie in 0..COUNT {
        let payload = vec![u8::try_from(cookie % 251).unwrap(); 4096];
        sender.send_request(&request(Command::Write, cookie), &payload).unwrap();
        sender.send_request(&request(Command::Read, COUNT + cookie), &[]).unwrap();
    }
    let mut receiver = receiving.join().unwrap();
    assert_eq!(sender.in_flight(), 0);
    sender.send_disconnect().unwrap();
    receiver.wait_for_end().unwrap();
    assert!(child.wait().unwrap().success());
}
