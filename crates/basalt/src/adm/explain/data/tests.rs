//! Each sentence about the data, for each situation.

use api::status::{ConnectionStatus, DiskFailure, PeerDeviceStatus};

use super::*;
use crate::adm::explain::rows::{self, Row};

/// The time is that of the test.
fn row(situation: impl Into<String>, sentence: &Sentence, when: Option<&str>) -> Row {
    let text = sentence.to_string();
    let sentence_text = when.map_or_else(|| text.clone(), |when| text.replace(when, "TIME"));
    let variant = rows::variant_of(sentence);
    Row { variant, situation: situation.into(), sentence: sentence_text }
}

/// alice is Primary, bob is connected; every write is on both.
fn situation() -> ResourceStatus {
    let peer_device =
        PeerDeviceStatus { peer_disk_state: DiskState::UpToDate, ..PeerDeviceStatus::default() };
    let bob = ConnectionStatus {
        name: "bob".to_owned(),
        peer_devices: vec![peer_device],
        ..ConnectionStatus::default()
    };
    let device = DeviceStatus {
        disk_state: DiskState::UpToDate,
        backing_dev: Some("/dev/vg/r0".to_owned()),
        ..DeviceStatus::default()
    };
    let insync = vec!["alice".to_owned(), "bob".to_owned()];
    ResourceStatus {
        role: Role::Primary,
        devices: vec![device],
        connections: vec![bob],
        epoch: Some(EpochStatus { insync, ..EpochStatus::default() }),
        ..ResourceStatus::default()
    }
}

fn failure() -> DiskFailure {
    DiskFailure {
        disk: "/dev/vg/r0".to_owned(),
        request: "a write to the disk".to_owned(),
        error: "Input/output error (os error 5)".to_owned(),
        hint: "look at `dmesg`".to_owned(),
        age_ms: 1000,
    }
}

fn rows_of_disks() -> Vec<Row> {
    let mut rows = Vec::new();
    for state in DiskState::ALL {
        for (client, place) in [(false, ""), (true, ", `disk none`")] {
            for (failure, told) in [(None, ""), (Some(failure()), ", a request failed")] {
                // Without a disk there is neither a state of one nor a failure.
                if client && (state != DiskState::Diskless || failure.is_some()) {
                    continue;
                }
                // A request that failed puts the disk out of use.
                if failure.is_some() && !matches!(state, DiskState::Failed | DiskState::Diskless) {
                    continue;
                }
                let mut resource = situation();
                let device = &mut resource.devices[0];
                (device.disk_state, device.client) = (state, client);
                device.disk_failure = failure;
                let sentence = data(&resource).remove(0);
                let when = device_time(&sentence);
                rows.push(row(format!("{state}{place}{told}"), &sentence, when.as_deref()));
            }
        }
    }
    let mut resource = situation();
    resource.devices.push(DeviceStatus { volume: 1, ..resource.devices[0].clone() });
    for device in &mut resource.devices {
        device.disk_state = DiskState::Diskless;
    }
    resource.devices[1].disk_failure = Some(failure());
    rows.push(row("Diskless, a request to volume 1 failed", &data(&resource)[0], None));
    rows
}

/// A failure tells when it was.
fn device_time(sentence: &Sentence) -> Option<String> {
    let text = sentence.to_string();
    let (_, rest) = text.split_once(" failed at ")?;
    rest.split_once(' ').map(|(when, _)| when.to_owned())
}

#[test]
fn rows_of_the_data_are_those_of_the_page() {
    let mut rows = rows_of_disks();
    for (split, split_brain) in [("", false), (", in a split brain", true)] {
        for (reopen, awaits_reopen) in [("", false), (", `reopen` is awaited", true)] {
            for losses in [0, 1] {
                for age_ms in [None, Some(1000)] {
                    let mut resource = situation();
                    resource.connections[0].split_brain = split_brain;
                    let epoch = resource.epoch.as_mut().unwrap();
                    (epoch.awaits_reopen, epoch.losses, epoch.age_ms) =
                        (awaits_reopen, losses, age_ms);
                    let told = data(&resource);
                    let touch = if age_ms.is_some() { "out of touch" } else { "in touch" };
                    let lost = if losses > 0 { ", a loss is counted" } else { "" };
                    let place = format!("{touch}{split}{reopen}{lost}");
                    let when = if let Sentence::CompleteAsOf { when, .. } = &told[1] {
                        Some(when.as_str())
                    } else {
                        None
                    };
                    rows.push(row(place, &told[1], when));
                }
            }
        }
    }
    for losses in [1, 2] {
        let mut resource = situation();
        resource.epoch.as_mut().unwrap().losses = losses;
        rows.push(row(format!("`losses` is {losses}"), &data(&resource)[2], None));
    }
    for (letter, place) in [("B", "Primary, `protocol B`"), ("A", "Primary, `protocol A`")] {
        let mut resource = situation();
        resource.connections[0].protocol = Some(letter.to_owned());
        rows.push(row(place, data(&resource).last().unwrap(), None));
    }
    let mut anew = situation();
    anew.connections[0].peer_devices[0].peer_disk_state = DiskState::Inconsistent;
    anew.reasons = vec!["an operator holds requests back".to_owned()];
    let told = data(&anew);
    rows.push(row("bob is in sync by the configuration, and Inconsistent", &told[2], None));
    rows.push(row("what `status` says as well", &told[3], None));
    rows::check(("explain-data.md", "What `explain` says of the data"), rows);
}

/// It was said of what a node gave up, too.
#[test]
fn every_write_is_said_to_be_there_only_where_nothing_is_given_up_or_apart() {
    for (split_brain, awaits_reopen, losses, plain) in [
        (false, false, 0, true),
        (false, false, 1, false),
        (false, true, 0, false),
        (true, false, 0, false),
        (true, true, 0, false),
    ] {
        for age_ms in [None, Some(1000)] {
            let mut resource = situation();
            resource.connections[0].split_brain = split_brain;
            let epoch = resource.epoch.as_mut().unwrap();
            (epoch.awaits_reopen, epoch.losses, epoch.age_ms) = (awaits_reopen, losses, age_ms);
            let said = data(&resource)[1].to_string();
            let has_exception = said.contains("but for those") || said.contains("on this side");
            assert_eq!(has_exception, !plain, "{said}");
        }
    }
}
