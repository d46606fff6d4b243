//! Commands of an operator, beside data threads that answer as a test has it.

use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::sync::Barrier;
use std::time::Duration;
use std::{fs, thread};

use api::connection_state::ConnectionState;
use api::request::AdjustScope;
use api::role::Role;
use api::status::{ConnectionStatus, NodeStatus, ResourceStatus, StatusReply};
use engine::contract::Force;
use engine::shard::refusals::unknown_resource;
use tempfile::TempDir;

use super::*;
use crate::control::parts::Parts;
use crate::control::texts::NewText;
use crate::control::up::{BringUp, DiskWait};
use crate::limits::COMMAND_PATIENCE;

mod places;

type Answer = Result<Reply, Failure>;

/// A node with one data thread, which hosts one resource or none.
struct Node {
    control: Arc<Control>,
    mailbox: Receiver<ToShard>,
    is_up: bool,
    /// What the resource is, while it is up.
    status: ResourceStatus,
    removals: usize,
    directory: TempDir,
}

/// What the data thread says instead of what it usually would.
type Say<'a> = &'a mut dyn FnMut(&mut Node, &ToShard) -> Option<Answer>;

impl Node {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (desk, mut mailboxes) = Desk::with_mailboxes(1, 4);
        let control = Control::new(Origin {
            name: "a".to_owned(),
            state: StateDir::below(directory.path()),
            desk,
            device_timeout: Duration::ZERO,
            device_names: Names::below(directory.path()),
            vhost: None,
            pki: directory.path().join("pki"),
            nvme_hosts: None,
            max_parallel_resyncs: None,
            backend: io::BackendKind::Poll,
            placement: Placement::new(Vec::new(), Vec::new(), Some(1)),
            room: mpsc::channel().0,
            service: Arc::default(),
            end: mpsc::channel().0,
        });
        Self {
            control: Arc::new(control),
            mailbox: mailboxes.remove(0),
            is_up: false,
            status: ResourceStatus::default(),
            removals: 0,
            directory,
        }
    }

    /// The resource is up with this text.
    fn with(text: &str) -> Self {
        let node = Self { is_up: true, ..Self::new() };
        node.control.state.store_text("r0", text).unwrap();
        node
    }

    /// What comes of a command.
    fn serve<T: Send>(&mut self, command: impl FnOnce(&Control) -> T + Send, say: Say<'_>) -> T {
        let control = Arc::clone(&self.control);
        thread::scope(|scope| {
            let working = scope.spawn(|| command(&control));
            while !working.is_finished() {
                let Some(message) = self.mailbox.pop() else {
                    thread::yield_now();
                    continue;
                };
                let answer = say(self, &message).unwrap_or_else(|| self.answer(&message));
                control.desk.hand_out(ticket_of(&message), answer);
            }
            working.join().unwrap()
        })
    }

    /// A test does not wait as long as an operator.
    fn shorten_deadline(&mut self) {
        let control = Arc::get_mut(&mut self.control).expect("nobody else has it");
        control.command_deadline = Duration::from_millis(500);
        control.up_locks.patience = control.command_deadline;
    }

    /// A `down` that a client with the resource open keeps from being done.
    fn refuse_down(&mut self) {
        let refused = self.serve(|control| control.down("r0", Force::No), &mut |_, message| {
            let in_use = Failure::new(FailureCode::DeviceInUse, "a client has it open", "");
            matches!(message, ToShard::Remove { .. }).then_some(Err(in_use))
        });
        assert_eq!(refused.unwrap_err().code, FailureCode::DeviceInUse);
    }

    /// Nobody is needed any more whom its text dropped: until the thread is done that stores it.
    fn settle(&self) {
        self.control.on_settled("r0".to_owned());
        while Arc::strong_count(&self.control) > 1 {
            thread::yield_now();
        }
    }

    fn adjust(&mut self, text: &str, scope: &AdjustScope, say: Say<'_>) -> Answer {
        self.serve(|control| control.adjust("r0", text, Mode::Do, scope), say)
    }

    fn answer(&mut self, message: &ToShard) -> Answer {
        let unknown = Err(unknown_resource("r0"));
        if let ToShard::Host { .. } = message {
            self.is_up = true;
        } else if !self.is_up || is_about_disks(message) {
            return unknown;
        } else if let ToShard::Status { .. } = message {
            let (node, resources) = (NodeStatus::default(), vec![self.status.clone()]);
            return Ok(Reply::Status(StatusReply { node, resources }));
        } else if let ToShard::Remove { .. } = message {
            self.is_up = false;
            self.removals += 1;
        }
        Ok(Reply::done())
    }
}

/// It has none, and lacks none.
fn is_about_disks(message: &ToShard) -> bool {
    matches!(message, ToShard::CheckAttach { .. } | ToShard::CheckVolume { .. })
}

fn ticket_of(message: &ToShard) -> Ticket {
    let (ToShard::Host { ticket, .. }
    | ToShard::Redefine { ticket, .. }
    | ToShard::Remove { ticket, .. }
    | ToShard::Promote { ticket, .. }
    | ToShard::Status { ticket, .. }
    | ToShard::Names { ticket }
    | ToShard::CheckAttach { ticket, .. }
    | ToShard::CheckVolume { ticket, .. }
    | ToShard::Connect { ticket, .. }) = message
    else {
        panic!("{message:?}");
    };
    *ticket
}

/// Of a resource without a disk here, with these lines more.
fn text(more: &str) -> String {
    format!(
        "resource r0 {{ {more} volume 0 {{ device minor 7; disk none; }}
           on a {{ node-id 0; address 127.0.0.1:1; }} on b {{ node-id 1; address 127.0.0.2:1; }}
           on c {{ node-id 2; address 127.0.0.3:1; }} connection-mesh {{ hosts a b c; }} }}"
    )
}

fn failed(what: &str) -> Failure {
    Failure::new(FailureCode::Internal, what, "")
}

fn nothing(_: &mut Node, _: &ToShard) -> Option<Answer> {
    None
}

/// The data thread takes the resource down when whoever asks others does not wait any more.
fn outlast_deadline(node: &mut Node, message: &ToShard) -> Option<Answer> {
    if let ToShard::Remove { .. } = message {
        let until = io::now() + node.control.command_deadline * 3;
        while io::now() < until {
            thread::yield_now();
        }
    }
    None
}

/// Whoever does not wait for somebody is done by then.
pub(super) fn rest() {
    (0..10_000).for_each(|_| thread::yield_now());
}

/// `status` had nothing of it any more, though a start of the daemon brings it up.
#[test]
fn resource_that_was_held_down_is_so_again_where_its_new_text_cannot_be_stored() {
    let mut node = Node { is_up: false, ..Node::with(&text("")) };
    node.control.hold_down("r0".to_owned(), failed("it was not to be"));
    let place = node.directory.path().join("state/resources");
    let elsewhere = node.directory.path().join("elsewhere");
    let failure = node.serve(
        |control| control.up("r0", &text("options { quorum majority; }")),
        &mut |_, message| {
            if let ToShard::Host { .. } = message {
                fs::rename(&place, &elsewhere).unwrap();
            } else if let ToShard::Remove { .. } = message {
                fs::rename(&elsewhere, &place).unwrap();
            }
            None
        },
    );
    let failure = failure.unwrap_err();
    assert!(failure.message.contains("state directory"), "{failure}");
    assert!(!node.is_up);
    let held = node.control.held_down().get("r0").cloned().expect("it is to be up, and is not");
    assert!(held.message.contains("state directory") && held.hint.contains("up r0"), "{held}");
}

/// What came after that `down` was taken down, too.
#[test]
fn up_that_a_down_was_faster_than_takes_nothing_down() {
    let mut node = Node::new();
    let text = text("");
    let up = |control: &Control| {
        let permit = control.up_locks.begin_up("r0").unwrap();
        let new = NewText { resource: "r0", text: &text, permit: &permit };
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let wait = DiskWait { patience: &mut patience, stall_max: DISK_STALL_MAX };
        control.bring_up(BringUp { new, parts: Parts::ALL, added: &[] }, wait).unwrap();
        control.up_locks.begin_down("r0").unwrap().confirm();
        control.store_text_of_new(new)
    };
    let failure = node.serve(up, &mut nothing).unwrap_err();
    assert!(failure.message.contains("taken down meanwhile"), "{failure}");
    assert_eq!(node.removals, 0);
    assert_eq!(node.control.stored_text("r0").unwrap(), None);
}

/// They had no names until the next `adjust`, and the resource was up.
#[test]
fn devices_have_their_names_where_the_peer_of_an_adjust_cannot_be_connected() {
    let mut node = Node::new();
    let devices = node.directory.path().join("dev");
    fs::create_dir(&devices).unwrap();
    // Not everybody may make the name itself; it is there, as of a Primary.
    symlink("ublkb7", devices.join("drbd7")).unwrap();
    let scope = AdjustScope { peer: Some("b".to_owned()), ..AdjustScope::default() };
    let failure = node.adjust(&text(""), &scope, &mut |_, message| {
        matches!(message, ToShard::Connect { .. }).then(|| Err(failed("it does not connect")))
    });
    assert_eq!(failure.unwrap_err().message, "it does not connect");
    assert!(node.is_up);
    fs::symlink_metadata(devices.join("drbd/by-res/r0/0")).unwrap();
}

/// They were called for what became of the resource of that name later, and whoever looks for
/// something to call them for did so for ever.
#[test]
fn adjust_that_a_down_was_faster_than_leaves_no_handlers() {
    let mut node = Node::with(&text(""));
    let wanted = text("handlers { split-brain \"/bin/true\"; }");
    let mut is_looking = false;
    let failure = node.adjust(&wanted, &AdjustScope::default(), &mut |node, message| {
        is_looking |= matches!(message, ToShard::CheckAttach { .. });
        let ToShard::Status { .. } = message else { return None };
        // The last look before it goes to work finds the resource up.
        let found = node.answer(message);
        if is_looking {
            node.serve(|control| control.down("r0", Force::No), &mut nothing).unwrap();
        }
        Some(found)
    });
    failure.unwrap_err();
    assert_eq!(node.removals, 1);
    assert!(!node.control.handlers.has_scripts());
    assert_eq!(node.control.stored_text("r0").unwrap(), None);
}

/// Only where it was Primary again, and one of them could not be connected, they were told.
#[test]
fn peers_that_are_kept_apart_are_told_of_where_the_role_cannot_be_had_again() {
    let mut node = Node::with(&text(""));
    let peer = |(id, name): (u8, &str), split_brain| ConnectionStatus {
        peer_node_id: id,
        name: name.to_owned(),
        connection_state: ConnectionState::StandAlone,
        split_brain,
        ..ConnectionStatus::default()
    };
    node.status.role = Role::Primary;
    node.status.connections = vec![peer((1, "b"), true), peer((2, "c"), false)];
    let wanted = text("").replace("minor 7", "minor 8");
    let reply = node.adjust(&wanted, &AdjustScope::default(), &mut |_, message| {
        matches!(message, ToShard::Promote { .. }).then(|| Err(failed("no quorum")))
    });
    let Reply::Adjusted { warnings, .. } = reply.unwrap() else { panic!("it adjusts") };
    let has = |part: &str| warnings.iter().any(|warning| warning.contains(part));
    assert!(has("it was Primary, and is Secondary now: no quorum"), "{warnings:?}");
    assert!(has("b is kept apart"), "{warnings:?}");
}

/// It was said to be Secondary, and became Primary later, without a block device.
#[test]
fn promotion_that_goes_on_after_a_change_is_told_to_do_so() {
    let mut node = Node::with(&text(""));
    node.status.role = Role::Primary;
    let wanted = text("").replace("minor 7", "minor 8");
    let reply = node.adjust(&wanted, &AdjustScope::default(), &mut |_, message| {
        let timeout = Failure::new(FailureCode::Timeout, "it did not end within 25 s", "");
        matches!(message, ToShard::Promote { .. }).then_some(Err(timeout))
    });
    let Reply::Adjusted { warnings, .. } = reply.unwrap() else { panic!("it adjusts") };
    let has = |part: &str| warnings.iter().any(|warning| warning.contains(part));
    assert!(has("its promotion takes long, and goes on"), "{warnings:?}");
    assert!(has("`basalt adm primary r0` makes the block device"), "{warnings:?}");
    assert!(!has("Secondary now"), "{warnings:?}");
}

/// It was told that the volume is not taken out of the resource, whatever the reason was.
#[test]
fn volume_that_is_to_go_is_refused_for_the_reason_that_there_is() {
    let first = "volume 0 { device minor 7; disk /dev/a0; meta-disk internal; }";
    let second = "volume 1 { device minor 8; disk /dev/a1; meta-disk internal; }";
    let of = |volumes: &str| text("").replace("volume 0 { device minor 7; disk none; }", volumes);
    let mut node = Node::with(&of(&format!("{first} {second}")));
    let busy = (FailureCode::StateRefused, "it is changing");
    let has_it = (FailureCode::NoLocalDisk, "it has a disk for it");
    for ((code, reason), told) in [(busy, "it is changing"), (has_it, "is not taken out of it")] {
        let failure = node.adjust(&of(first), &AdjustScope::default(), &mut |_, message| {
            let refusal = Err(Failure::new(code, reason, ""));
            matches!(message, ToShard::CheckVolume { .. }).then_some(refusal)
        });
        let failure = failure.unwrap_err();
        assert!(failure.message.contains(told), "{failure}");
    }
}

/// It was taken for another service's, and nothing could be adjusted until the change was stored.
#[test]
fn address_of_a_change_that_waits_is_no_other_services() {
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listening.local_addr().unwrap().to_string();
    let mut node = Node::with(&text(""));
    let waiting = text("").replace("127.0.0.1:1", &address);
    node.control.unsettled.note("r0", &waiting, &node.control.up_locks.begin_up("r0").unwrap());
    let wanted = waiting.replace("volume", "options { quorum majority; } volume");
    node.adjust(&wanted, &AdjustScope::default(), &mut nothing).unwrap();
    assert_eq!(node.control.stored_text("r0").unwrap(), Some(wanted));
}

/// It was dropped without a word, and a restart took the former one.
#[test]
fn change_that_waits_is_stored_where_a_down_was_refused_meanwhile() {
    let mut node = Node::with(&text(""));
    let changed = text("options { quorum majority; }");
    node.control.unsettled.note("r0", &changed, &node.control.up_locks.begin_up("r0").unwrap());
    node.refuse_down();
    node.settle();
    assert_eq!(node.control.stored_text("r0").unwrap(), Some(changed));
}

/// It failed, and said that the resource was taken down.
#[test]
fn adjust_goes_on_where_a_down_was_refused_meanwhile() {
    let mut node = Node::with(&text(""));
    let wanted = text("options { quorum majority; }");
    let mut is_refused = false;
    let adjusted = node.adjust(&wanted, &AdjustScope::default(), &mut |node, message| {
        if matches!(message, ToShard::Redefine { .. }) {
            node.refuse_down();
            is_refused = true;
        }
        None
    });
    adjusted.unwrap();
    assert!(is_refused);
    assert_eq!(node.control.stored_text("r0").unwrap(), Some(wanted));
}

/// It counted as refused: it stayed configured, with its handlers and its names, and came up again
/// with the daemon.
#[test]
fn down_that_a_data_thread_hears_late_is_done_to_its_end() {
    let scripts = text("handlers { split-brain \"/bin/true\"; }");
    let mut node = Node::with(&scripts);
    node.control.apply_settings(&Definition::from_text("a", "r0", &scripts).unwrap());
    node.shorten_deadline();
    let before = node.control.up_locks.begin_up("r0").unwrap();
    let down = node.serve(|control| control.down("r0", Force::No), &mut outlast_deadline);
    down.unwrap();
    assert!(before.is_over());
    assert_eq!(node.control.stored_text("r0").unwrap(), None);
    assert!(!node.control.handlers.has_scripts());
}

/// Each waited ten minutes, and held its place: after some `status` was refused.
#[test]
fn down_of_what_a_data_thread_takes_down_late_is_refused() {
    let mut node = Node::with(&text(""));
    node.shorten_deadline();
    let down = |control: &Control| control.down("r0", Force::No);
    let first = node.serve(down, &mut |node, message| {
        if let ToShard::Remove { .. } = message {
            let second = node.control.down("r0", Force::No).unwrap_err();
            assert!(second.message.contains("a `down` of \"r0\" is under way"), "{second}");
            assert!(node.mailbox.pop().is_none(), "it asks for no other removal");
        }
        None
    });
    first.unwrap();
    assert_eq!(node.removals, 1);
}

/// It waited for a lock as long as the data thread took, whatever its own time was.
#[test]
fn what_comes_while_what_is_not_stored_goes_down_late_is_refused_in_time() {
    let mut node = Node::new();
    node.shorten_deadline();
    let place = node.directory.path().join("state/resources");
    let mut is_removed = false;
    let failure = node.serve(|control| control.up("r0", &text("")), &mut |node, message| {
        if let ToShard::Host { .. } = message {
            fs::rename(&place, place.with_extension("gone")).unwrap();
        } else if let ToShard::Remove { .. } = message {
            let later = node.control.up("r0", &text("")).unwrap_err();
            assert!(later.message.contains("is under way"), "{later}");
            is_removed = true;
        }
        None
    });
    let failure = failure.unwrap_err();
    assert!(failure.message.contains("state directory"), "{failure}");
    assert!(is_removed && !node.is_up);
}

/// It went down, nothing brought it up again, and `status` did not know it.
#[test]
fn change_whose_down_is_heard_late_brings_the_resource_up_again() {
    let mut node = Node::with(&text(""));
    node.shorten_deadline();
    let wanted = text("").replace("minor 7", "minor 8");
    let adjusted = node.adjust(&wanted, &AdjustScope::default(), &mut outlast_deadline);
    adjusted.unwrap();
    assert_eq!((node.is_up, node.removals), (true, 1));
    assert_eq!(node.control.stored_text("r0").unwrap(), Some(wanted));
}

/// They had the names of what is down for as long as the node runs, where it was just going down.
#[test]
fn devices_of_what_goes_down_get_no_names_when_a_change_of_it_is_settled() {
    let changed = text("options { quorum majority; }");
    let node = Node::with(&text(""));
    let devices = node.directory.path().join("dev");
    fs::create_dir(&devices).unwrap();
    symlink("ublkb7", devices.join("drbd7")).unwrap();
    node.control.unsettled.note("r0", &changed, &node.control.up_locks.begin_up("r0").unwrap());
    let mut ending = node.control.up_locks.begin_down("r0").unwrap();
    ending.confirm();
    node.settle();
    fs::symlink_metadata(devices.join("drbd/by-res/r0/0")).unwrap_err();
    drop(ending);
    // Where it stays up, they have them.
    node.control.unsettled.note("r0", &changed, &node.control.up_locks.begin_up("r0").unwrap());
    node.settle();
    fs::symlink_metadata(devices.join("drbd/by-res/r0/0")).unwrap();
}

/// A disk that was being attached or enlarged stayed as it was, though the resource stays up.
#[test]
fn work_on_disks_goes_on_where_a_down_is_refused() {
    let mut node = Node::with(&text(""));
    let claim = node.control.disks_of("r0").unwrap();
    node.refuse_down();
    claim.check().unwrap();
    drop(claim);
    // Work for a resource that is not up ends with what was to bring it up.
    let mut node = Node::new();
    let claim = node.control.disks_of("r0").unwrap();
    node.serve(
        |control| {
            thread::scope(|scope| {
                let down = scope.spawn(|| control.down("r0", Force::No));
                while claim.check().is_ok() {
                    thread::yield_now();
                }
                drop(claim);
                assert_eq!(down.join().unwrap().unwrap_err().code, FailureCode::UnknownResource);
            });
        },
        &mut nothing,
    );
}

/// The shard waits for whoever holds the metadata of the disk.
#[test]
fn work_on_disks_ends_as_soon_as_the_resource_goes() {
    let node = Node::new();
    let claim = node.control.disks_of("r0").unwrap();
    let parker = Parker::new().unwrap();
    let (mut shard, answers) = io::mailbox::Mailbox::channel(1, parker.waker());
    shard.send(FromShard::Going { resource: "r0".to_owned() }).unwrap();
    drop(shard);
    node.control.hand_out(vec![answers], &parker);
    claim.check().unwrap_err();
}

/// It was up with no text: gone after a restart, and neither `up` nor `adjust` mended that.
#[test]
fn up_at_the_end_of_a_down_is_up_with_its_text() {
    let text = text("");
    let mut node = Node::with(&text);
    node.control.held_down().insert("r0".to_owned(), failed("until a down forgets it"));
    let control = Arc::clone(&node.control);
    let ((begun, has_begun), (release, released)) = (mpsc::channel(), mpsc::channel());
    // Nobody stores or forgets a text meanwhile.
    let holder = thread::spawn(move || {
        control.unsettled.end_with("other", || {
            begun.send(()).unwrap();
            released.recv().unwrap();
            Ok(())
        })
    });
    has_begun.recv().unwrap();
    let both = move |control: &Control| {
        thread::scope(|scope| {
            let down = scope.spawn(|| control.down("r0", Force::No));
            while control.held_down().contains_key("r0") {
                thread::yield_now();
            }
            let up = scope.spawn(|| control.up("r0", &text));
            rest();
            release.send(()).unwrap();
            (down.join().unwrap(), up.join().unwrap())
        })
    };
    let (down, up) = node.serve(both, &mut nothing);
    holder.join().unwrap().unwrap();
    down.unwrap();
    up.unwrap();
    assert_eq!((node.is_up, node.removals), (true, 1));
    assert!(node.control.stored_text("r0").unwrap().is_some());
}

/// They found it up still and were told that it is, and it was taken down right after.
#[test]
fn what_is_to_come_up_while_a_down_is_under_way_is_up_after_it() {
    let text = text("");
    let ways: [fn(&Control, &str) -> Answer; 3] = [
        |control, text| control.up("r0", text),
        |control, text| control.new_resource("r0", text),
        |control, text| control.adjust("r0", text, Mode::Do, &AdjustScope::default()),
    ];
    for way in ways {
        let mut node = Node::with(&text);
        let begun = Barrier::new(2);
        let both = |control: &Control| {
            thread::scope(|scope| {
                let down = scope.spawn(|| control.down("r0", Force::No));
                begun.wait();
                let up = way(control, &text);
                (down.join().unwrap(), up)
            })
        };
        let (down, up) = node.serve(both, &mut |node, message| {
            if let ToShard::Remove { .. } = message {
                begun.wait();
                node.serve(|_| rest(), &mut nothing);
            }
            None
        });
        down.unwrap();
        up.unwrap();
        assert_eq!((node.is_up, node.removals), (true, 1));
        assert_eq!(node.control.stored_text("r0").unwrap().as_ref(), Some(&text));
    }
}

/// They were forgotten, though the resource runs with what they belong to.
#[test]
fn adjust_that_fails_leaves_the_handlers_of_one_that_was_faster() {
    let mut node = Node::with(&text(""));
    let faster = text("handlers { split-brain \"/bin/true\"; }");
    let slower = text("options { quorum majority; }");
    let mut is_first = true;
    let failure = node.adjust(&slower, &AdjustScope::default(), &mut |node, message| {
        if !matches!(message, ToShard::Redefine { .. }) || !std::mem::take(&mut is_first) {
            return None;
        }
        node.adjust(&faster, &AdjustScope::default(), &mut nothing).unwrap();
        Some(Err(failed("it cannot be so")))
    });
    failure.unwrap_err();
    assert_eq!(node.control.stored_text("r0").unwrap(), Some(faster));
    assert!(node.control.handlers.has_scripts());
}

/// The change that could not be had took its handlers, and its sockets, and noted it as down.
#[test]
fn what_another_command_brought_up_in_a_change_that_fails_keeps_its_handlers() {
    let former = text("handlers { split-brain \"/bin/true\"; }");
    let mut node = Node::with(&former);
    node.control.apply_settings(&Definition::from_text("a", "r0", &former).unwrap());
    let wanted = former.replace("minor 7", "minor 8");
    let mut is_first = true;
    let failure = node.adjust(&wanted, &AdjustScope::default(), &mut |node, message| {
        let ToShard::Host { .. } = message else { return None };
        if std::mem::replace(&mut is_first, false) {
            node.answer(message).unwrap();
        }
        Some(Err(failed("r0 is up already")))
    });
    failure.unwrap_err();
    assert!(node.is_up && node.control.held_down().is_empty());
    assert!(node.control.handlers.has_scripts());
}

/// They were called for what became of the resource of that name later.
#[test]
fn handlers_of_what_stays_down_after_a_change_are_forgotten() {
    let former = text("handlers { split-brain \"/bin/true\"; }");
    let mut node = Node::with(&former);
    node.control.apply_settings(&Definition::from_text("a", "r0", &former).unwrap());
    let wanted = former.replace("minor 7", "minor 8");
    let failure = node.adjust(&wanted, &AdjustScope::default(), &mut |_, message| {
        matches!(message, ToShard::Host { .. }).then(|| Err(failed("it does not come up")))
    });
    failure.unwrap_err();
    assert!(!node.is_up && node.control.held_down().contains_key("r0"));
    assert!(!node.control.handlers.has_scripts());
}

/// Each was waited for before the next one was asked, up to 25 s.
#[test]
fn resources_that_become_primary_at_the_start_do_not_wait_for_each_other() {
    let mut node = Node::new();
    let first = text("startup { become-primary-on a; }");
    for name in ["r0", "r1"] {
        let text = first.replace("resource r0", &format!("resource {name}"));
        node.control.state.store_text(name, &text).unwrap();
    }
    let control = Arc::clone(&node.control);
    let starting = thread::spawn(move || control.promote_at_start());
    let (mut asked, until) = (Vec::new(), io::now() + ADMIN_COMMAND_DEADLINE / 2);
    while asked.len() < 2 {
        assert!(io::now() < until, "{asked:?}");
        match node.mailbox.pop() {
            Some(message) => asked.push(ticket_of(&message)),
            None => thread::yield_now(),
        }
    }
    for ticket in asked {
        node.control.desk.hand_out(ticket, Err(failed("it is not to be")));
    }
    starting.join().unwrap();
}
