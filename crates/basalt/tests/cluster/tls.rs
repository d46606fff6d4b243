//! What only links with TLS can show, and what can be seen of them from outside.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::variant::Variant;

/// Passes connections on to `target`, and keeps what passes.
fn listen_in(target: SocketAddr, heard: &Arc<Mutex<Vec<u8>>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::clone(heard);
    let copy = |mut from: TcpStream, mut to: TcpStream, heard: Arc<Mutex<Vec<u8>>>| {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            heard.lock().unwrap().extend_from_slice(&bytes[..length]);
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        to.shutdown(Shutdown::Both).ok();
    };
    // It ends with the test process.
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = TcpStream::connect(target) else { continue };
            let other_way = (far.try_clone().unwrap(), near.try_clone().unwrap());
            for (from, to) in [(near, far), other_way] {
                let heard = Arc::clone(&heard);
                thread::spawn(move || copy(from, to, heard));
            }
        }
    });
    address
}

fn occurs(part: &[u8], bytes: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn resource_does_not_come_up_without_the_certificates_that_it_needs() {
    let mut cluster = Cluster::plan(2).variant(Variant::Tls).prepare();
    fs::remove_dir_all(cluster.directory.path().join("ca/nodes/n0")).unwrap();
    cluster.launch(0);
    let said = cluster.adm_refused(0, &["up", "r0"]);
    assert!(said.contains("has `tls yes`") && said.contains("no certificate in"), "{said}");
}

#[test]
fn nothing_that_is_said_between_nodes_can_be_read_on_the_way() {
    let mut cluster = Cluster::plan(3).variant(Variant::Tls).prepare();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listening = cluster.nodes[1].address;
    let on_the_way = listen_in(listening, &heard);
    let text = cluster.config_text("r0");
    // The one that dials comes last, and goes through the relay.
    for index in [2, 1, 0] {
        let theirs = if index == 0 { on_the_way } else { listening };
        let text = text.replace(&listening.to_string(), &theirs.to_string());
        cluster.configure(&text);
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.make_in_sync();
    let secret = b"what nobody else is to know of it";
    let mut client = cluster.client(0);
    client.write(0, &secret.repeat(2 * BLOCK)[..64 * BLOCK]).unwrap();
    client.flush().unwrap();
    client.close().unwrap();
    let heard = heard.lock().unwrap();
    assert!(heard.len() > 64 * BLOCK, "the data went this way: {} bytes", heard.len());
    assert!(!occurs(secret, &heard), "data was sent in clear text");
    assert!(!occurs(b"BSLT", &heard), "a frame was sent in clear text");
    let status = cluster.status(0).unwrap();
    assert!(status.connections.iter().all(|one| one.tls), "{:?}", status.connections);
    assert!(occurs(secret, &cluster.data(1, 64 * BLOCK as u64)), "the replica has it");
}
