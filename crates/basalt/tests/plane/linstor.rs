//! LINSTOR's requests against a cluster of daemons and agents.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Plane, is_empty};

const BLOCK: usize = 4096;

/// The status and the body.
fn ask(plane: &Plane, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let mut stream = TcpStream::connect(plane.listen).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let body = body.to_string();
    let length = body.len();
    let request = format!(
        "{method} /v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

#[track_caller]
fn worked(plane: &Plane, method: &str, path: &str, body: &Value) -> Value {
    let (status, answer) = ask(plane, method, path, body);
    assert!(status < 300, "{method} {path}: {status} {answer}");
    answer
}

/// Each with a disk, a number and a device of its own; together they have one role.
#[test]
fn resource_of_two_volumes_is_spawned_moved_grown_and_taken_away() {
    let plane = Plane::of(3);
    let group = json!({"name": "gold", "select_filter": {"place_count": 2}});
    worked(&plane, "POST", "resource-groups", &group);
    let spawn = json!({"resource_definition_name": "db", "volume_sizes": [16384, 32768]});
    worked(&plane, "POST", "resource-groups/gold/spawn", &spawn);
    let at = |node: &str| format!("resource-definitions/db/resources/{node}/make-available");
    worked(&plane, "POST", &at("n0"), &json!({}));
    for (volume, bytes) in [("db/0", 16 << 20), ("db/1", 32 << 20)] {
        let mut client = plane.client(0, volume);
        assert_eq!(client.export().size_bytes, bytes, "{volume}");
        client.write(0, &[7; BLOCK]).unwrap();
        client.close().unwrap();
    }
    let second = "resource-definitions/db/volume-definitions/1";
    worked(&plane, "PUT", second, &json!({"size_kib": 65536}));
    // The device moves as soon as nobody has it open any more.
    plane.poll("the device on n2", || {
        let (status, _) = ask(&plane, "POST", &at("n2"), &json!({"diskful": false}));
        (status == 200).then_some(())
    });
    let mut client = plane.client(2, "db/1");
    assert_eq!(client.export().size_bytes, 64 << 20);
    let mut read = vec![0; BLOCK];
    client.read(0, &mut read).unwrap();
    assert_eq!(read, [7; BLOCK]);
    client.close().unwrap();
    let resources = worked(&plane, "GET", "view/resources?resources=db", &Value::Null);
    assert_eq!(resources.as_array().unwrap().len(), 3);
    assert_eq!(resources[0]["volumes"][1]["device_path"], "/dev/drbd/by-res/db/1");
    plane.poll("its end", || {
        let (status, _) = ask(&plane, "DELETE", "resource-definitions/db", &Value::Null);
        (status == 200).then_some(())
    });
    for index in 0..3 {
        plane.poll("nothing of it", || is_empty(&plane.pool(index)).then_some(()));
    }
}

/// A driver takes each replica away, and the definition at the end.
#[test]
fn replicas_are_taken_away_one_by_one_and_the_definition_at_the_end() {
    let plane = Plane::of(3);
    let name = json!({"resource_definition": {"name": "db"}});
    worked(&plane, "POST", "resource-definitions", &name);
    let size = json!({"volume_definition": {"size_kib": 16384}});
    worked(&plane, "POST", "resource-definitions/db/volume-definitions", &size);
    let filter = json!({"select_filter": {"place_count": 3}});
    worked(&plane, "POST", "resource-definitions/db/autoplace", &filter);
    for node in ["n0", "n1", "n2"] {
        let path = format!("resource-definitions/db/resources/{node}");
        worked(&plane, "DELETE", &path, &Value::Null);
    }
    let resources = worked(&plane, "GET", "view/resources", &Value::Null);
    assert_eq!(resources, json!([]));
    for index in 0..3 {
        plane.poll("nothing of it", || is_empty(&plane.pool(index)).then_some(()));
    }
    worked(&plane, "POST", "resource-definitions/db/autoplace", &filter);
    worked(&plane, "DELETE", "resource-definitions/db", &Value::Null);
}
