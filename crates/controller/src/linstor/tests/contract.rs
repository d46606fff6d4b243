//! Each request, about what is there, what is not, what is in use, and in the spellings of clients.

use serde_json::json;

use crate::linstor::codes::{Kind, Thing};
use crate::pretended::Cluster;

const RD: &str = "/v1/resource-definitions";
const RG: &str = "/v1/resource-groups";

const fn ok(thing: Thing, code: u16) -> (Kind, Thing, u16) {
    (Kind::Success, thing, code)
}

const fn bad(thing: Thing, code: u16) -> (Kind, Thing, u16) {
    (Kind::Error, thing, code)
}

const fn absent(thing: Thing) -> (Kind, Thing, u16) {
    (Kind::Warning, thing, 3000)
}

/// A definition of one volume of 1 GiB, on nodes.
fn placed(cluster: &Cluster, name: &str, replicas: u8) {
    let body = json!({"resource_definition": {"name": name}}).to_string();
    cluster.expect(("POST", RD, &body), (201, ok(Thing::Definition, 1)), &[("RscDfn", name)]);
    let path = format!("{RD}/{name}/volume-definitions");
    let body = r#"{"volume_definition": {"size_kib": 1048576}}"#;
    cluster.expect(("POST", &path, body), (201, ok(Thing::VolumeDefinition, 1)), &[("VlmNr", "0")]);
    if replicas > 0 {
        let path = format!("{RD}/{name}/autoplace");
        let body = json!({"select_filter": {"place_count": replicas}}).to_string();
        let told = ok(Thing::Resource, 1);
        cluster.expect(("POST", &path, &body), (201, told), &[("RscDfn", name)]);
    }
}

#[test]
fn controller_tells_its_version_and_keeps_properties() {
    let cluster = Cluster::of(1);
    let version = cluster.get("/v1/controller/version");
    assert_eq!(version["rest_api_version"], "1.28.0");
    assert!(version["version"].is_string() && version["build_time"].is_string());
    assert_eq!(cluster.ask("GET", "/health", "").0, 200);
    let path = "/v1/controller/properties";
    let put = |body: &str, told| cluster.expect(("POST", path, body), told, &[]);
    let changed = (201, ok(Thing::Controller, 3));
    put(r#"{"override_props": {"Aux/a/b": "1", "DrbdOptions/x": "yes"}}"#, changed);
    let noted = put(r#"{"override_props": {"DrbdOptions/x": "yes"}}"#, changed);
    assert_eq!(noted[1]["ret_code"].as_i64().unwrap() & 0x7FFF, 3001);
    assert_eq!(cluster.get(path), json!({"Aux/a/b": "1", "DrbdOptions/x": "yes"}));
    let gone = "/v1/controller/properties/Aux/a/b";
    cluster.expect(("DELETE", gone, ""), (200, ok(Thing::Controller, 2)), &[]);
    assert_eq!(cluster.get(path), json!({"DrbdOptions/x": "yes"}));
    put("{", (400, bad(Thing::Controller, 234)));
    put("[1]", (400, bad(Thing::Controller, 234)));
    put(r#"{"override_props": {"": "x"}}"#, (500, bad(Thing::Controller, 213)));
}

/// Lists of what there is nothing of are empty, so that a client's table is.
#[test]
fn what_is_not_served_is_refused_with_a_list_of_entries_and_lists_of_it_are_empty() {
    let cluster = Cluster::of(1);
    placed(&cluster, "db", 0);
    for path in ["/v1/error-reports", "/v1/view/snapshots", "/v1/files", "/v1/physical-storage"] {
        assert_eq!(cluster.get(path), json!([]), "{path}");
    }
    assert_eq!(cluster.get("/v1/remotes")["s3_remotes"], json!([]));
    assert_eq!(cluster.get("/v1/encryption/passphrase")["status"], "unset");
    assert_eq!(cluster.get(&format!("{RD}/db/snapshots")), json!([]));
    for (method, path) in [
        ("GET", "/v1/nothing"),
        ("POST", "/v1/remotes/s3"),
        ("PATCH", "/v1/encryption/passphrase"),
        ("PATCH", "/v1/nodes"),
        ("GET", "/v1"),
        ("POST", "/v1/schedules"),
    ] {
        cluster.expect((method, path, "{}"), (501, bad(Thing::Nothing, 999)), &[]);
    }
    let refused = (501, bad(Thing::Snapshot, 994));
    for path in [
        "/v1/actions/snapshot/multi".to_owned(),
        format!("{RD}/db/snapshots"),
        format!("{RD}/db/snapshot-rollback/s"),
        format!("{RD}/db/snapshot-restore-resource/s"),
    ] {
        cluster.expect(("POST", &path, "{}"), refused, &[]);
    }
    let one = format!("{RD}/db/snapshots/s");
    cluster.expect(("GET", &one, ""), (404, bad(Thing::Snapshot, 315)), &[]);
    cluster.expect(("DELETE", &one, ""), (200, absent(Thing::Snapshot)), &[]);
    let clone = format!("{RD}/db/clone");
    cluster.expect(("POST", &clone, "{}"), (501, bad(Thing::Definition, 999)), &[]);
    let status = format!("{RD}/db/clone/copy");
    cluster.expect(("GET", &status, ""), (404, bad(Thing::Definition, 301)), &[]);
}

#[test]
fn nodes_are_told_and_made_and_taken_out_by_nobody_here() {
    let cluster = Cluster::of(2);
    let nodes = cluster.get("/v1/nodes");
    assert_eq!(nodes.as_array().unwrap().len(), 2);
    assert_eq!(nodes[0]["name"], "n0");
    assert_eq!(nodes[0]["type"], "SATELLITE");
    assert_eq!(nodes[0]["connection_status"], "ONLINE");
    assert_eq!(nodes[0]["net_interfaces"][0]["address"], "10.0.0.0");
    assert_eq!(cluster.get("/v1/nodes?nodes=N1")[0]["name"], "n1");
    assert_eq!(cluster.get("/v1/nodes?limit=1&offset=1")[0]["name"], "n1");
    assert_eq!(cluster.get("/v1/nodes?limit=0&offset=1").as_array().unwrap().len(), 2);
    assert_eq!(cluster.get("/v1/nodes/N0")["name"], "n0");
    let no_node = (404, bad(Thing::Node, 300));
    cluster.expect(("GET", "/v1/nodes/n9", ""), no_node, &[]);
    let body = r#"{"name": "n9", "type": "satellite", "net_interfaces": [{"address": "::1"}]}"#;
    cluster.expect(("POST", "/v1/nodes", body), (501, bad(Thing::Node, 999)), &[]);
    let taken = r#"{"name": "N0"}"#;
    cluster.expect(("POST", "/v1/nodes", taken), (500, bad(Thing::Node, 500)), &[]);
    cluster.expect(("POST", "/v1/nodes", "{}"), (400, bad(Thing::Node, 234)), &[]);
    let label = r#"{"override_props": {"Aux/site": "a"}, "delete_props": null, "new": [1]}"#;
    cluster.expect(("PUT", "/v1/nodes/N0", label), (200, ok(Thing::Node, 3)), &[("Node", "N0")]);
    cluster.expect(("PUT", "/v1/nodes/n9", label), no_node, &[]);
    assert_eq!(cluster.get("/v1/nodes?props=Aux/site=a")[0]["name"], "n0");
    assert_eq!(cluster.get("/v1/nodes?props=Aux/site=b"), json!([]));
    for path in ["/v1/nodes/n9", "/v1/nodes/n9/lost"] {
        cluster.expect(("DELETE", path, ""), (200, absent(Thing::Node)), &[]);
    }
    cluster.expect(("DELETE", "/v1/nodes/n0", ""), (500, bad(Thing::Node, 234)), &[]);
    cluster.add_silent_node(7);
    assert_eq!(cluster.get("/v1/nodes/n7")["connection_status"], "OFFLINE");
    let lost = ("DELETE", "/v1/nodes/N7/lost", "");
    cluster.expect(lost, (200, ok(Thing::Node, 2)), &[("Node", "N7")]);
    cluster.expect(lost, (200, absent(Thing::Node)), &[]);
    cluster.expect(("PUT", "/v1/nodes/n0/evacuate", ""), (501, bad(Thing::Node, 999)), &[]);
    cluster.expect(("PUT", "/v1/nodes/n0/reconnect", ""), (200, ok(Thing::Node, 3)), &[]);
    cluster.expect(("PUT", "/v1/nodes/n9/restore", ""), no_node, &[]);
}

#[test]
fn interfaces_are_kept_beside_the_one_that_a_node_joined_with() {
    let cluster = Cluster::of(1);
    let path = "/v1/nodes/n0/net-interfaces";
    let body = r#"{"name": "fast", "address": "10.1.0.1", "satellite_port": "3366"}"#;
    let refs = [("Node", "n0"), ("NetIf", "fast")];
    cluster.expect(("POST", path, body), (201, ok(Thing::Interface, 1)), &refs);
    let told = cluster.get(path);
    assert_eq!((&told[0]["name"], &told[1]["name"]), (&json!("default"), &json!("fast")));
    assert_eq!(cluster.get(&format!("{path}/FAST"))["address"], "10.1.0.1");
    let wrong = r#"{"name": "bad", "address": "nowhere"}"#;
    cluster.expect(("POST", path, wrong), (500, bad(Thing::Interface, 234)), &[]);
    let gone = format!("{path}/fast");
    cluster.expect(("DELETE", &gone, ""), (200, ok(Thing::Interface, 2)), &refs);
    cluster.expect(("DELETE", &gone, ""), (200, absent(Thing::Interface)), &[]);
    cluster.expect(("GET", &gone, ""), (404, bad(Thing::Interface, 305)), &[]);
    let first = format!("{path}/default");
    cluster.expect(("DELETE", &first, ""), (501, bad(Thing::Interface, 999)), &[]);
}

#[test]
fn pools_are_of_files_and_each_node_has_one_without_a_disk() {
    let cluster = Cluster::of(2);
    let all = cluster.get("/v1/view/storage-pools?cached=true&limit=0&offset=0");
    let names: Vec<_> = all.as_array().unwrap().iter().map(|it| &it["storage_pool_name"]).collect();
    assert_eq!(names, ["DfltDisklessStorPool", "thin", "DfltDisklessStorPool", "thin"]);
    assert_eq!(all[1]["provider_kind"], "FILE_THIN");
    assert_eq!(all[1]["free_capacity"], 100 << 20);
    assert_eq!(all[1]["props"]["StorDriver/StorPoolName"], "/pool");
    assert!(all[1]["uuid"].is_string());
    let one = cluster.get("/v1/view/storage-pools?nodes=n1&storage_pools=THIN");
    assert_eq!(one.as_array().unwrap().len(), 1);
    placed(&cluster, "db", 2);
    let path = "/v1/nodes/n0/storage-pools";
    let body = r#"{"storage_pool_name": "fast", "provider_kind": "filethin",
                   "props": {"StorDriver/StorPoolName": "/fast", "Aux/x": "1"}}"#;
    let refs = [("Node", "n0"), ("StorPool", "fast")];
    cluster.expect(("POST", path, body), (201, ok(Thing::Pool, 1)), &refs);
    cluster.expect(("POST", path, body), (500, bad(Thing::Pool, 510)), &[]);
    assert_eq!(cluster.get(&format!("{path}/FAST"))["props"]["Aux/x"], "1");
    for (kind, status, code) in [("LVM_THIN", 501, 999), ("zfs", 501, 999), ("TAPE", 500, 234)] {
        let body = json!({"storage_pool_name": "p22", "provider_kind": kind}).to_string();
        cluster.expect(("POST", path, &body), (status, bad(Thing::Pool, code)), &[]);
    }
    let nowhere = r#"{"storage_pool_name": "p22", "provider_kind": "FILE"}"#;
    cluster.expect(("POST", path, nowhere), (400, bad(Thing::Pool, 234)), &[]);
    let on_none = ("POST", "/v1/nodes/n9/storage-pools", body);
    cluster.expect(on_none, (404, bad(Thing::Pool, 300)), &[]);
    let used = "/v1/nodes/n1/storage-pools/thin";
    cluster.expect(("DELETE", used, ""), (500, bad(Thing::Pool, 997)), &[]);
    let gone = format!("{path}/fast");
    let label = r#"{"override_props": {"Aux/y": "2"}}"#;
    cluster.expect(("PUT", &gone, label), (200, ok(Thing::Pool, 3)), &refs);
    cluster.expect(("DELETE", &gone, ""), (200, ok(Thing::Pool, 2)), &refs);
    cluster.expect(("DELETE", &gone, ""), (200, absent(Thing::Pool)), &[]);
    cluster.expect(("GET", &gone, ""), (404, bad(Thing::Pool, 310)), &[]);
    let names = cluster.get("/v1/storage-pool-definitions");
    assert_eq!(names[1]["storage_pool_name"], "thin");
}

#[test]
fn groups_keep_their_filter_and_go_only_without_volumes() {
    let cluster = Cluster::of(2);
    let default = cluster.get(&format!("{RG}/dfltrscgrp"));
    assert_eq!(default["name"], "DfltRscGrp");
    assert!(default["select_filter"].get("place_count").is_none(), "there is no default");
    let body = r#"{"name": "gold", "description": null, "select_filter":
        {"place_count": "2", "storage_pool": "thin", "diskless_on_remaining": null,
         "replicas_on_different": ["Aux/site"]}}"#;
    cluster.expect(("POST", RG, body), (201, ok(Thing::Group, 1)), &[("RscGrp", "gold")]);
    cluster.expect(("POST", RG, r#"{"name": "GOLD"}"#), (500, bad(Thing::Group, 522)), &[]);
    cluster.expect(("POST", RG, r#"{"name": "a/b"}"#), (500, bad(Thing::Group, 237)), &[]);
    cluster.expect(("POST", RG, r#"{"select_filter": 1}"#), (400, bad(Thing::Group, 234)), &[]);
    let gold = format!("{RG}/Gold");
    let told = cluster.get(&gold);
    assert_eq!(told["select_filter"]["place_count"], 2);
    assert_eq!(told["select_filter"]["storage_pool"], "thin");
    assert_eq!(told["select_filter"]["storage_pool_list"], json!(["thin"]));
    let change = r#"{"override_props": {"Aux/a": "1"}, "select_filter":
        {"replicas_on_different": []}}"#;
    cluster.expect(("PUT", &gold, change), (200, ok(Thing::Group, 3)), &[("RscGrp", "gold")]);
    let told = cluster.get(&gold);
    assert_eq!(told["select_filter"]["place_count"], 2, "what was not said stays");
    assert_eq!(told["select_filter"]["replicas_on_different"], json!([]));
    assert_eq!(told["props"], json!({"Aux/a": "1"}));
    cluster.expect(("PUT", &format!("{RG}/none"), "{}"), (404, bad(Thing::Group, 317)), &[]);
    let groups = format!("{gold}/volume-groups");
    let made = ok(Thing::VolumeGroup, 1);
    cluster.expect(("POST", &groups, "{}"), (201, made), &[("VlmNr", "0")]);
    cluster.expect(("POST", &groups, ""), (201, made), &[("VlmNr", "1")]);
    let taken = r#"{"volume_number": "1"}"#;
    cluster.expect(("POST", &groups, taken), (500, bad(Thing::VolumeGroup, 523)), &[]);
    let one = format!("{groups}/1");
    assert_eq!(cluster.get(&one)["volume_number"], 1);
    cluster.expect(("DELETE", &one, ""), (200, ok(Thing::VolumeGroup, 2)), &[]);
    cluster.expect(("DELETE", &one, ""), (200, absent(Thing::VolumeGroup)), &[]);
    cluster.expect(("GET", &one, ""), (404, bad(Thing::VolumeGroup, 318)), &[]);
    let body = r#"{"resource_definition": {"name": "db", "resource_group_name": "GOLD"}}"#;
    cluster.expect(("POST", RD, body), (201, ok(Thing::Definition, 1)), &[]);
    assert_eq!(cluster.get(&format!("{RD}/db"))["resource_group_name"], "gold");
    // A driver takes this very number for: it is still used.
    cluster.expect(("DELETE", &gold, ""), (500, bad(Thing::Group, 501)), &[]);
    cluster.expect(("DELETE", &format!("{RD}/db"), ""), (200, ok(Thing::Definition, 2)), &[]);
    cluster.expect(("DELETE", &gold, ""), (200, ok(Thing::Group, 2)), &[("RscGrp", "gold")]);
    cluster.expect(("DELETE", &gold, ""), (200, absent(Thing::Group)), &[]);
    let default = format!("{RG}/DfltRscGrp");
    cluster.expect(("DELETE", &default, ""), (500, bad(Thing::Group, 234)), &[]);
    let names = cluster.get(RG);
    assert_eq!(names.as_array().unwrap().len(), 1);
}

#[test]
fn definition_comes_before_its_volumes_and_nodes_and_stays_as_it_was_named() {
    let cluster = Cluster::of(2);
    placed(&cluster, "Db-1", 0);
    let body = r#"{"resource_definition": {"name": "DB-1", "props": {}}}"#;
    cluster.expect(("POST", RD, body), (500, bad(Thing::Definition, 501)), &[]);
    for (body, status, code) in [
        ("{", 400, 234),
        ("{}", 400, 234),
        (r#"{"resource_definition": {"name": "x"}}"#, 500, 202),
        (r#"{"resource_definition": {"name": "../x"}}"#, 500, 202),
        (r#"{"resource_definition": {"name": "db2", "resource_group_name": "no"}}"#, 404, 317),
        (r#"{"resource_definition": {"name": "db2", "layer_data": [{"type": "LUKS"}]}}"#, 501, 999),
    ] {
        cluster.expect(("POST", RD, body), (status, bad(Thing::Definition, code)), &[]);
    }
    let one = format!("{RD}/db-1");
    let told = cluster.get(&one);
    assert_eq!(told["name"], "Db-1");
    assert_eq!(told["layer_data"][0]["type"], "DRBD");
    assert!(told.get("volume_definitions").is_none());
    let listed = cluster.get(&format!("{RD}?with_volume_definitions=True"));
    assert_eq!(listed[0]["volume_definitions"][0]["size_kib"], 1 << 20);
    let change = r#"{"override_props": {"Aux/a": "1", "DrbdOptions/Net/allow-two-primaries": "no"},
                     "delete_props": ["Aux/b"]}"#;
    let changed = (200, ok(Thing::Definition, 3));
    let told = cluster.expect(("PUT", &one, change), changed, &[("RscDfn", "Db-1")]);
    assert_eq!(told.as_array().unwrap().len(), 1, "a switch that is off needs no note");
    assert_eq!(cluster.get(&format!("{RD}?props=Aux/a&props=Aux/a=1"))[0]["name"], "Db-1");
    assert_eq!(cluster.get(&format!("{RD}?props=Aux/a&props=Aux/b")), json!([]));
    let absent_one = format!("{RD}/none");
    let not_there = (404, bad(Thing::Definition, 301));
    cluster.expect(("GET", &absent_one, ""), not_there, &[]);
    cluster.expect(("PUT", &absent_one, "{}"), not_there, &[]);
    cluster.expect(("DELETE", &absent_one, ""), (200, absent(Thing::Definition)), &[]);
    let refs = [("RscDfn", "Db-1")];
    cluster.expect(("DELETE", &one, ""), (200, ok(Thing::Definition, 2)), &refs);
    cluster.expect(("DELETE", &one, ""), (200, absent(Thing::Definition)), &[]);
}

#[test]
fn external_name_makes_a_name_and_is_another_ones_never() {
    let cluster = Cluster::of(1);
    let body = r#"{"resource_definition": {"external_name": "one db"}}"#;
    let made = (201, ok(Thing::Definition, 1));
    cluster.expect(("POST", RD, body), made, &[("RscDfn", "one_db")]);
    cluster.expect(("POST", RD, body), (500, bad(Thing::Definition, 517)), &[]);
    assert_eq!(cluster.get(&format!("{RD}/one_db"))["external_name"], "one db");
    let random = r#"{"resource_definition": {"external_name": ""}}"#;
    let told = cluster.expect(("POST", RD, random), made, &[]);
    assert!(told[0]["obj_refs"]["RscDfn"].as_str().unwrap().starts_with("LS_"));
}

#[test]
fn volumes_of_a_definition_have_numbers_sizes_and_minors() {
    let cluster = Cluster::of(2);
    placed(&cluster, "db", 0);
    let path = format!("{RD}/db/volume-definitions");
    let body = r#"{"volume_definition": {"volume_number": "3", "size_kib": "10240"},
                   "drbd_minor_number": 2000}"#;
    let refs = [("RscDfn", "db"), ("VlmNr", "3")];
    cluster.expect(("POST", &path, body), (201, ok(Thing::VolumeDefinition, 1)), &refs);
    for (body, status, code) in [
        (r#"{"volume_definition": {"volume_number": 3, "size_kib": 10240}}"#, 500, 503),
        (r#"{"volume_definition": {"size_kib": 10240}, "drbd_minor_number": 2000}"#, 500, 207),
        (r#"{"volume_definition": {"size_kib": 4}}"#, 500, 206),
        (r#"{"volume_definition": {"size_kib": 9223372036854775807}}"#, 500, 206),
        (r#"{"volume_definition": {"size_kib": -1}}"#, 400, 234),
        (r#"{"volume_definition": {}}"#, 400, 234),
    ] {
        let told = bad(Thing::VolumeDefinition, code);
        cluster.expect(("POST", &path, body), (status, told), &[]);
    }
    let three = format!("{path}/3");
    let told = cluster.get(&three);
    assert_eq!((&told["size_kib"], &told["volume_number"]), (&json!(10240), &json!(3)));
    assert_eq!(told["layer_data"][0]["data"]["minor_number"], 2000);
    let changed = (200, ok(Thing::VolumeDefinition, 3));
    cluster.expect(("PUT", &three, r#"{"size_kib": 20480}"#), changed, &refs);
    let same = (200, (Kind::Warning, Thing::VolumeDefinition, 1023));
    cluster.expect(("PUT", &three, r#"{"size_kib": 20480}"#), same, &[]);
    cluster.expect(("PUT", &three, r#"{"override_props": {"Aux/a": "1"}}"#), changed, &refs);
    let none = (404, bad(Thing::VolumeDefinition, 303));
    cluster.expect(("GET", &format!("{path}/7"), ""), none, &[]);
    cluster.expect(("PUT", &format!("{path}/7"), "{}"), none, &[]);
    cluster.expect(
        ("DELETE", &format!("{path}/7"), ""),
        (200, absent(Thing::VolumeDefinition)),
        &[],
    );
    let body = r#"{"select_filter": {"place_count": 2}}"#;
    let autoplace = format!("{RD}/db/autoplace");
    cluster.expect(("POST", &autoplace, body), (201, ok(Thing::Resource, 1)), &[]);
    let resources = cluster.get("/v1/view/resources?resources=db");
    assert_eq!(resources[0]["volumes"][1]["device_path"], "/dev/drbd/by-res/db/3");
    let refused = (501, bad(Thing::VolumeDefinition, 999));
    let one_more = r#"{"volume_definition": {"size_kib": 10240}}"#;
    cluster.expect(("POST", &path, one_more), refused, &[]);
    cluster.expect(("DELETE", &three, ""), refused, &[]);
    cluster.expect(("PUT", &three, r#"{"size_kib": "40960"}"#), changed, &refs);
    assert_eq!(cluster.get(&three)["size_kib"], 40960);
    assert_eq!(cluster.get(&format!("{path}/0"))["size_kib"], 1 << 20, "the other one stays");
    cluster.expect(("PUT", &three, r#"{"size_kib": 40960}"#), same, &[]);
    let small = (500, bad(Thing::VolumeDefinition, 206));
    cluster.expect(("PUT", &three, r#"{"size_kib": 20480}"#), small, &[]);
    let large = (500, bad(Thing::VolumeDefinition, 980));
    let told = cluster.expect(("PUT", &three, r#"{"size_kib": 999999999}"#), large, &[]);
    assert!(told[0]["details"].as_str().unwrap().contains("n0/thin: no room"), "{told}");
}

#[test]
fn autoplace_takes_the_group_and_says_when_there_is_nothing_to_do() {
    let cluster = Cluster::of(3);
    placed(&cluster, "db", 0);
    let autoplace = format!("{RD}/DB/autoplace");
    let deployed = (201, (Kind::Warning, Thing::Resource, 1006));
    cluster.expect(("POST", &autoplace, "{}"), deployed, &[("RscDfn", "db")]);
    assert_eq!(cluster.get("/v1/view/resources"), json!([]), "nothing was placed");
    let many = r#"{"select_filter": {"place_count": 4}}"#;
    let told = cluster.expect(("POST", &autoplace, many), (500, bad(Thing::Resource, 996)), &[]);
    assert!(told[0]["details"].as_str().unwrap().contains("n0/thin: "), "{told}");
    let body = r#"{"select_filter": {"place_count": "2"}, "diskless_on_remaining": null}"#;
    cluster.expect(("POST", &autoplace, body), (201, ok(Thing::Resource, 1)), &[("RscDfn", "db")]);
    let all = cluster.get("/v1/view/resources");
    assert_eq!(all.as_array().unwrap().len(), 3, "two replicas and a tiebreaker");
    let paths: Vec<_> = (0..3).map(|at| &all[at]["volumes"][0]["device_path"]).collect();
    assert_eq!(paths, ["/dev/drbd/by-res/db/0"; 3], "one string on all nodes");
    assert_eq!(all[0]["volumes"][0]["state"]["disk_state"], "UpToDate");
    assert_eq!(all[0]["volumes"][0]["provider_kind"], "FILE_THIN");
    assert_eq!(all[0]["layer_object"]["drbd"]["drbd_volumes"][0]["usable_size_kib"], 1 << 20);
    assert_eq!(all[0]["layer_object"]["drbd"]["connections"]["n1"]["connected"], true);
    assert_eq!(all[2]["flags"], json!(["DISKLESS", "DRBD_DISKLESS", "TIE_BREAKER"]));
    assert_eq!(all[2]["volumes"][0]["provider_kind"], "DISKLESS");
    assert_eq!(cluster.get("/v1/view/resources?nodes=n2")[0]["node_name"], "n2");
    cluster.expect(("POST", &autoplace, body), deployed, &[]);
    let more = r#"{"select_filter": {"additional_place_count": 1}}"#;
    cluster.expect(("POST", &autoplace, more), (201, ok(Thing::Resource, 1)), &[]);
    let all = cluster.get("/v1/view/resources?storage_pools=thin");
    assert_eq!(all.as_array().unwrap().len(), 3, "the witness got a disk");
    let five = r#"{"select_filter": {"place_count": 5}}"#;
    cluster.expect(("POST", &autoplace, five), (500, bad(Thing::Resource, 996)), &[]);
    let none = format!("{RD}/none/autoplace");
    cluster.expect(("POST", &none, "{}"), (404, bad(Thing::Resource, 301)), &[]);
    cluster.expect(("POST", &autoplace, "{\"a\""), (400, bad(Thing::Resource, 234)), &[]);
    let crypt = r#"{"layer_list": ["luks", "storage"]}"#;
    cluster.expect(("POST", &autoplace, crypt), (501, bad(Thing::Resource, 999)), &[]);
    let sync = cluster.get(&format!("{RD}/db/sync-status"));
    assert_eq!(sync, json!({"synced_on_all": true}));
}

#[test]
fn resources_are_made_on_named_nodes_and_the_only_one_is_taken_away() {
    let cluster = Cluster::of(3);
    placed(&cluster, "db", 0);
    let path = format!("{RD}/db/resources");
    let create =
        |body: &str, status, told| cluster.expect(("POST", &path, body), (status, told), &[]);
    create("[]", 400, bad(Thing::Resource, 234));
    create("[1]", 400, bad(Thing::Resource, 234));
    create(r#"[{"resource": {}}]"#, 400, bad(Thing::Resource, 234));
    create(r#"[{"resource": {"node_name": "n9"}}]"#, 404, bad(Thing::Resource, 300));
    let pool = r#"[{"resource": {"node_name": "n1", "props": {"StorPoolName": "no"}}}]"#;
    create(pool, 404, bad(Thing::Resource, 310));
    let diskless = r#"[{"resource": {"node_name": "n1", "flags": ["drbd_diskless"]}}]"#;
    create(diskless, 501, bad(Thing::Resource, 999));
    let body = r#"[{"resource": {"node_name": "N1", "props": {"StorPoolName": "THIN"}}}]"#;
    create(body, 201, ok(Thing::Resource, 1));
    create(body, 500, bad(Thing::Resource, 502));
    let one = format!("{path}/n1");
    assert_eq!(cluster.get(&one)["node_name"], "n1");
    cluster.expect(("GET", &format!("{path}/n2"), ""), (404, bad(Thing::Resource, 302)), &[]);
    let volumes = cluster.get(&format!("{one}/volumes"));
    assert_eq!(volumes[0]["storage_pool_name"], "thin");
    assert_eq!(cluster.get(&format!("{one}/volumes/0"))["usable_size_kib"], 1 << 20);
    cluster.expect(("GET", &format!("{one}/volumes/1"), ""), (404, bad(Thing::Volume, 303)), &[]);
    let label = r#"{"override_props": {"Aux/csi": "x"}}"#;
    cluster.expect(("PUT", &one, label), (200, ok(Thing::Resource, 3)), &[]);
    assert_eq!(cluster.get(&one)["props"]["Aux/csi"], "x");
    cluster.expect(("POST", &format!("{one}/activate"), ""), (200, ok(Thing::Resource, 3)), &[]);
    for rest in ["deactivate", "toggle-disk", "toggle-disk/diskless", "migrate-disk/n0/thin"] {
        let method = if rest == "deactivate" { "POST" } else { "PUT" };
        let path = format!("{one}/{rest}");
        cluster.expect((method, &path, ""), (501, bad(Thing::Resource, 999)), &[]);
    }
    let has_disk = (200, (Kind::Warning, Thing::Resource, 1007));
    cluster.expect(("PUT", &format!("{one}/toggle-disk/diskful"), ""), has_disk, &[]);
    let refs = [("RscDfn", "db"), ("Node", "n1")];
    cluster.expect(("DELETE", &format!("{path}/n2"), ""), (200, absent(Thing::Resource)), &[]);
    cluster.expect(("DELETE", &one, ""), (200, ok(Thing::Resource, 2)), &refs);
    cluster.expect(("DELETE", &one, ""), (200, absent(Thing::Resource)), &[]);
    assert_eq!(cluster.get(&path), json!([]));
    assert_eq!(cluster.get(&format!("{RD}/db"))["name"], "db", "its definition stays");
    let autoplace = format!("{RD}/db/autoplace");
    let body = r#"{"select_filter": {"place_count": 3}}"#;
    cluster.expect(("POST", &autoplace, body), (201, ok(Thing::Resource, 1)), &[]);
    cluster.expect(("DELETE", &one, ""), (200, ok(Thing::Resource, 2)), &refs);
}

#[test]
fn replicas_are_added_and_dropped_while_the_volume_is_on_nodes() {
    let cluster = Cluster::of(4);
    placed(&cluster, "db", 0);
    let path = format!("{RD}/db/resources");
    let made = (201, ok(Thing::Resource, 1));
    let body = r#"[{"resource": {"node_name": "n0"}}]"#;
    cluster.expect(("POST", &path, body), made, &[("Node", "n0")]);
    let body = r#"[{"resource": {"node_name": "n1"}}, {"resource": {"node_name": "n2"}}]"#;
    cluster.expect(("POST", &path, body), made, &[("Node", "n1, n2")]);
    let toggle = format!("{path}/n3/toggle-disk");
    let body = r#"{"operation": "into_drbd_diskful", "storage_pool": "thin"}"#;
    cluster.expect(("PUT", &toggle, body), (200, ok(Thing::Resource, 3)), &[("Node", "n3")]);
    assert_eq!(cluster.get("/v1/view/resources?storage_pools=thin").as_array().unwrap().len(), 4);
    for node in ["n0", "n1", "n2", "n3"] {
        let one = format!("{path}/{node}");
        cluster.expect(("DELETE", &one, ""), (200, ok(Thing::Resource, 2)), &[("Node", node)]);
    }
    assert_eq!(cluster.get("/v1/view/resources"), json!([]));
    let volume = format!("{RD}/db/volume-definitions/0");
    cluster.expect(("DELETE", &volume, ""), (200, ok(Thing::VolumeDefinition, 2)), &[]);
    cluster.expect(("DELETE", &format!("{RD}/db"), ""), (200, ok(Thing::Definition, 2)), &[]);
}

#[test]
fn witness_is_not_taken_away_by_itself() {
    let cluster = Cluster::of(3);
    placed(&cluster, "db", 2);
    let told = (200, (Kind::Warning, Thing::Resource, 3001));
    cluster.expect(("DELETE", &format!("{RD}/db/resources/n2"), ""), told, &[]);
}

#[test]
fn device_comes_where_it_is_wanted_and_moves_unless_somebody_has_it_open() {
    let cluster = Cluster::of(4);
    placed(&cluster, "db", 3);
    let at = |node: &str| format!("{RD}/db/resources/{node}/make-available");
    let refs = [("RscDfn", "db"), ("Node", "n0")];
    let here = (200, ok(Thing::Resource, 3));
    for body in ["{}", r#"{"diskful": false}"#, ""] {
        cluster.expect(("POST", &at("n0"), body), here, &refs);
    }
    let in_use =
        |node: &str| cluster.get(&format!("{RD}/db/resources/{node}"))["state"]["in_use"].clone();
    assert_eq!(in_use("n0"), false, "it is there, and nobody has it open");
    cluster.expect(("POST", &at("n1"), "{}"), here, &[("Node", "n1")]);
    cluster.open("db");
    assert_eq!((in_use("n0"), in_use("n1")), (json!(false), json!(true)));
    cluster.expect(("POST", &at("n2"), "{}"), (500, bad(Thing::Resource, 997)), &[]);
    cluster.expect(("POST", &at("n1"), "{}"), here, &[]);
    let used = format!("{RD}/db");
    cluster.expect(("DELETE", &used, ""), (500, bad(Thing::Definition, 997)), &[]);
    let replica = format!("{RD}/db/resources/n1");
    cluster.expect(("DELETE", &replica, ""), (500, bad(Thing::Resource, 997)), &[]);
    cluster.close("db");
    cluster.expect(("POST", &at("n2"), "{}"), here, &[]);
    cluster.expect(("POST", &at("n3"), "{}"), here, &[("Node", "n3")]);
    let client = format!("{RD}/db/resources/n3");
    let volume = cluster.get(&format!("{client}/volumes/0"));
    assert_eq!(volume["provider_kind"], "DISKLESS");
    assert_eq!(volume["device_path"], "/dev/drbd/by-res/db/0");
    assert_eq!(cluster.get(&client)["flags"], json!(["DISKLESS", "DRBD_DISKLESS"]));
    cluster.open("db");
    cluster.expect(("DELETE", &client, ""), (500, bad(Thing::Resource, 997)), &[]);
    cluster.close("db");
    let gone = format!("{client}?keep_tiebreaker=True");
    cluster.expect(("DELETE", &gone, ""), (200, ok(Thing::Resource, 2)), &[("Node", "n3")]);
    cluster.expect(("DELETE", &gone, ""), (200, absent(Thing::Resource)), &[]);
    cluster.expect(("POST", &at("n3"), "{}"), here, &[("Node", "n3")]);
    cluster.expect(("POST", &at("n9"), "{}"), (404, bad(Thing::Resource, 300)), &[]);
    let none = format!("{RD}/none/resources/n0/make-available");
    cluster.expect(("POST", &none, "{}"), (404, bad(Thing::Resource, 301)), &[]);
    placed(&cluster, "first", 0);
    let first = format!("{RD}/first/resources/n3/make-available");
    cluster.expect(("POST", &first, "{}"), here, &[("Node", "n3")]);
    let all = cluster.get("/v1/view/resources?resources=first");
    assert_eq!(all.as_array().unwrap().len(), 1, "the first replica goes there");
    cluster.expect(("DELETE", &used, ""), (200, ok(Thing::Definition, 2)), &[("RscDfn", "db")]);
    assert_eq!(cluster.get("/v1/view/resources?resources=db"), json!([]));
}

#[test]
fn group_spawns_what_it_wants_or_nothing() {
    let cluster = Cluster::of(3);
    let body = r#"{"name": "gold", "select_filter": {"place_count": 2}}"#;
    cluster.expect(("POST", RG, body), (201, ok(Thing::Group, 1)), &[]);
    let groups = format!("{RG}/gold/volume-groups");
    for _ in 0..2 {
        cluster.expect(("POST", &groups, "{}"), (201, ok(Thing::VolumeGroup, 1)), &[]);
    }
    let spawn = format!("{RG}/GOLD/spawn");
    let body = r#"{"resource_definition_name": "db", "volume_sizes": ["16384", 16384],
                   "partial": false, "definitions_only": false, "select_filter": {}}"#;
    let made = (201, ok(Thing::Definition, 1));
    cluster.expect(("POST", &spawn, body), made, &[("RscDfn", "db")]);
    cluster.expect(("POST", &spawn, body), (500, bad(Thing::Definition, 501)), &[]);
    assert_eq!(cluster.get(&format!("{RD}/db/volume-definitions")).as_array().unwrap().len(), 2);
    assert_eq!(cluster.get("/v1/view/resources").as_array().unwrap().len(), 3);
    let uneven = r#"{"resource_definition_name": "db2", "volume_sizes": [16384]}"#;
    cluster.expect(("POST", &spawn, uneven), (500, bad(Thing::Definition, 234)), &[]);
    let large = r#"{"resource_definition_name": "db2", "volume_sizes": [16384, 999999999]}"#;
    cluster.expect(("POST", &spawn, large), (500, bad(Thing::Definition, 996)), &[]);
    cluster.expect(("GET", &format!("{RD}/db2"), ""), (404, bad(Thing::Definition, 301)), &[]);
    let only = r#"{"resource_definition_name": "db3", "volume_sizes": [16384, 16384],
                   "definitions_only": true, "resource_definition_props": {"Aux/a": "b"}}"#;
    cluster.expect(("POST", &spawn, only), made, &[("RscDfn", "db3")]);
    assert_eq!(cluster.get(&format!("{RD}/db3"))["props"], json!({"Aux/a": "b"}));
    assert_eq!(cluster.get("/v1/view/resources?resources=db3"), json!([]));
    let plain = r#"{"resource_definition_name": "plain", "volume_sizes": [16384]}"#;
    let default = format!("{RG}/DfltRscGrp/spawn");
    let told = cluster.expect(("POST", &default, plain), made, &[("RscDfn", "plain")]);
    assert_eq!(told[1]["message"], "it is defined, and placed nowhere", "no number was asked for");
    let none = format!("{RG}/none/spawn");
    cluster.expect(("POST", &none, only), (404, bad(Thing::Definition, 317)), &[]);
    cluster.expect(("POST", &spawn, "[]"), (400, bad(Thing::Definition, 234)), &[]);
    let (status, told) = cluster.ask("POST", &format!("{RG}/gold/query-size-info"), "{}");
    assert_eq!(status, 200);
    let room = told["space_info"]["max_vlm_size_in_kib"].as_u64().unwrap();
    assert!(room > 90 << 20 && room < 100 << 20, "{told}");
    let path = "/v1/queries/resource-groups/query-all-size-info";
    let (_, all) = cluster.ask("POST", path, "{}");
    assert_eq!(all["result"]["gold"]["space_info"], told["space_info"]);
    let max = cluster.get(&format!("{RG}/gold/query-max-volume-size"));
    assert_eq!(max["candidates"][0]["storage_pool"], "thin");
}

#[test]
fn key_value_stores_keep_what_tools_put_into_them() {
    let cluster = Cluster::of(1);
    let path = "/v1/key-value-store/Gui";
    let none = (404, bad(Thing::KeyValue, 316));
    cluster.expect(("GET", path, ""), none, &[]);
    cluster.expect(("DELETE", path, ""), (200, absent(Thing::KeyValue)), &[]);
    let body = r#"{"override_props": {"/ns/key": "v", "DrbdOptions/x": "1"}}"#;
    let told = cluster.expect(("PUT", path, body), (200, ok(Thing::KeyValue, 3)), &[]);
    assert_eq!(told.as_array().unwrap().len(), 1);
    let stored = json!([{"name": "Gui", "props": {"ns/key": "v", "DrbdOptions/x": "1"}}]);
    assert_eq!(cluster.get("/v1/key-value-store/GUI"), stored);
    let change = r#"{"delete_props": ["/ns/key"], "delete_namespaces": ["DrbdOptions"]}"#;
    cluster.expect(("PUT", "/v1/key-value-store/gui", change), (200, ok(Thing::KeyValue, 3)), &[]);
    assert_eq!(cluster.get("/v1/key-value-store"), json!([{"name": "Gui", "props": {}}]));
    cluster.expect(("DELETE", path, ""), (200, ok(Thing::KeyValue, 2)), &[]);
    cluster.expect(("GET", path, ""), none, &[]);
}

/// A client sets them by one order of names and takes them back by the other one.
#[test]
fn connection_has_its_properties_in_either_order_of_its_ends() {
    let cluster = Cluster::of(2);
    placed(&cluster, "db", 2);
    let (one, other) = ("n0/n1", "n1/n0");
    let at = |ends: &str| format!("{RD}/db/resource-connections/{ends}");
    let put = r#"{"override_props": {"DrbdOptions/Net/allow-two-primaries": "yes"}}"#;
    let told = cluster.expect(("PUT", &at(one), put), (200, ok(Thing::Connection, 3)), &[]);
    assert_eq!(told[1]["ret_code"].as_i64().unwrap() & 0x7FFF, 3001, "{told}");
    let key = "DrbdOptions/Net/allow-two-primaries";
    assert_eq!(cluster.get(&at(other))["props"][key], "yes");
    let take = r#"{"delete_props": ["DrbdOptions/Net/allow-two-primaries"]}"#;
    cluster.expect(("PUT", &at(other), take), (200, ok(Thing::Connection, 3)), &[]);
    assert_eq!(cluster.get(&at(one))["props"], json!({}));
    let all = cluster.get(&format!("{RD}/db/resource-connections"));
    assert_eq!(all[0]["node_a"], "n0");
    cluster.expect(("PUT", &at("n0/n9"), put), (404, bad(Thing::Connection, 300)), &[]);
}

#[test]
fn body_that_is_too_long_is_refused_as_everything_else() {
    let cluster = Cluster::of(1);
    let long = format!("{{\"name\": \"{}\"}}", "x".repeat(70_000));
    cluster.expect(("POST", RG, &long), (400, bad(Thing::Nothing, 234)), &[]);
    let number = format!("{RD}/db/volume-definitions/-1");
    cluster.expect(("DELETE", &number, ""), (500, bad(Thing::VolumeDefinition, 234)), &[]);
}

/// A client that keeps its connection would lose it, and not connect again.
#[test]
fn connection_outlives_each_refusal() {
    let cluster = Cluster::of(1);
    for refused in ["actions/snapshot/multi", "nothing", "resource-groups/x/adjust", "nodes"] {
        assert_eq!(cluster.answers_on_one_connection("POST", &format!("/v1/{refused}")), 2);
    }
    assert_eq!(cluster.answers_on_one_connection("PATCH", "/v1/nodes"), 2);
}

/// A volume of the native API is a definition as good as any other.
#[test]
fn native_volumes_and_those_from_here_are_the_same() {
    let cluster = Cluster::of(3);
    let body = r#"{"name": "native", "size_bytes": 1048576, "replicas": 3}"#;
    assert_eq!(cluster.ask("POST", "/basalt/v1/volumes", body).0, 202);
    let made = format!("{RD}/native/resources/n0/make-available");
    cluster.expect(("POST", &made, "{}"), (200, ok(Thing::Resource, 3)), &[]);
    assert_eq!(cluster.get(&format!("{RD}/native"))["resource_group_name"], "DfltRscGrp");
    placed(&cluster, "db", 0);
    let told = cluster.get("/basalt/v1/volumes/db");
    assert_eq!((&told["state"], &told["size_bytes"]), (&json!("defined"), &json!(1 << 30)));
    let (status, told) = cluster.ask("POST", "/basalt/v1/volumes/db/detach", "{}");
    assert_eq!((status, &told["code"]), (400, &json!("bad-request")), "{told}");
    assert_eq!(cluster.ask("DELETE", "/basalt/v1/volumes/db", "").0, 202);
    cluster.expect(("GET", &format!("{RD}/db"), ""), (404, bad(Thing::Definition, 301)), &[]);
}
