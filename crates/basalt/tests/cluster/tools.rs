//! Lines that tools around DRBD type, against real daemons: exit code, and shape of what is said.
//!
//! Each row has the tool and the version whose line it is. The resource is brought into the state
//! of its row first, on the node where the line is typed; what the row leaves is the next row's.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use api::role::Role;

use crate::harness::Cluster;

/// What is there of `r0` on the node when the line is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Primary,
    Secondary,
    Down,
}

use State::{Down, Primary, Secondary};

/// What is said; `DIR` stands for the directory of the test.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Nothing,
    Is(&'static str),
    /// As many lines, which begin so.
    Lines(&'static [&'static str]),
    /// This, and more.
    Has(&'static str),
    /// A list of so many objects, each with these keys.
    Json(usize, &'static [&'static str]),
}

use Shape::{Has, Is, Json, Lines, Nothing};

/// Program and words, state before, exit code, standard output, standard error.
type Row = (&'static str, State, i32, Shape, Shape);

const SHIM: &str = "drbd-utils 9.22.0, drbd-service-shim.sh";
const UNITS: &str = "drbd-utils 9.22.0, systemd units";
const INIT: &str = "drbd-utils 9.22.0, init script drbd";
const OCF: &str = "drbd-utils 9.22.0, OCF agent linbit/drbd";
const HELPERS: &str = "drbd-utils 9.22.0, drbd-attr, handler scripts and udev rules";
const OVERVIEW: &str =
    "drbd-utils after 9.22, drbd-overview.pl, drbd-verify.py and tnf-drbd-fence.py";
const LINSTOR: &str = "linstor-server 1.3x, satellite's DrbdAdm";
const BY_HAND: &str = "drbd-utils 9.22.0, drbdadm(8) and drbdsetup(8)";
const REACTOR: &str = "drbd-reactor 1.11, and its ha-controller";
const CHECKS: &str = "check scripts of Nagios, Icinga and Zabbix, by the words of DRBD 9";

const SEEN: &[&str] = &[
    "exists resource name:r0 role:Secondary ",
    "exists connection name:r0 peer-node-id:1 conn-name:n1 connection:Connected role:",
    "exists connection name:r0 peer-node-id:2 conn-name:n2 connection:Connected role:",
    "exists device name:r0 volume:0 minor:1 backing_dev:DIR/disk0 disk:UpToDate ",
    "exists peer-device name:r0 peer-node-id:1 conn-name:n1 volume:0 replication:Established ",
    "exists peer-device name:r0 peer-node-id:2 conn-name:n2 volume:0 replication:Established ",
    "exists path name:r0 peer-node-id:1 conn-name:n1 local:ipv4:",
    "exists path name:r0 peer-node-id:2 conn-name:n2 local:ipv4:",
    "exists -",
];
const STATUS: &[&str] = &[
    "r0 role:Secondary",
    "  disk:UpToDate open:no",
    "  n1 role:Secondary",
    "    peer-disk:UpToDate",
    "  n2 role:Secondary",
    "    peer-disk:UpToDate",
    "",
];
const UNKNOWN: Shape = Has("r0: Failure: (158) Unknown resource\n");
const OF_RESOURCE: &[&str] = &["name", "role", "devices", "connections"];

const OPTION_STEP: Shape = Is("drbdsetup resource-options r0 --set-defaults --auto-promote=no\n");
const FROM_CONFIGURATION: Shape = Has("options come from the configuration");
const HERE_ALONE: Shape = Has("it counts on this node alone, until `");

/// By the tool that types them.
const ROWS: &[(&str, &[Row])] = &[
    (
        SHIM,
        &[
            ("drbdsetup events2 --now", Secondary, 0, Lines(SEEN), Nothing),
            ("drbdsetup events2 --now r0", Secondary, 0, Lines(SEEN), Nothing),
            ("drbdsetup events2 --now r0", Down, 0, Is("exists -\n"), Nothing),
            ("drbdsetup events2 --now", Down, 0, Is("exists -\n"), Nothing),
            ("drbdsetup secondary r0", Primary, 0, Nothing, Nothing),
            ("drbdsetup secondary r0", Secondary, 0, Nothing, Nothing),
            ("drbdsetup secondary r0", Down, 10, Nothing, UNKNOWN),
            ("drbdsetup secondary --force=yes r0", Primary, 0, Nothing, Nothing),
            ("drbdsetup secondary --force=yes r0", Secondary, 0, Nothing, Nothing),
            ("drbdsetup secondary --force=yes r0", Down, 10, Nothing, UNKNOWN),
            ("drbdsetup primary r0", Secondary, 0, Nothing, Nothing),
            ("drbdsetup primary r0", Primary, 0, Nothing, Nothing),
            ("drbdsetup primary r0", Down, 10, Nothing, UNKNOWN),
            ("drbdsetup down r0", Secondary, 0, Nothing, Nothing),
            ("drbdsetup down r0", Down, 0, Nothing, Has("there is nothing to take down")),
            ("drbdadm adjust r0", Down, 0, Nothing, Nothing),
            ("drbdadm adjust r0", Secondary, 0, Nothing, Nothing),
        ],
    ),
    (
        UNITS,
        &[
            (
                "drbdsetup resource-options --on-no-quorum suspend-io --on-no-data suspend-io r0",
                Secondary,
                0,
                Nothing,
                HERE_ALONE,
            ),
            (
                "drbdsetup resource-options --on-no-quorum io-error --on-no-data io-error r0",
                Primary,
                0,
                Nothing,
                HERE_ALONE,
            ),
            ("drbdadm sh-ll-dev r0", Secondary, 0, Is("DIR/disk0\n"), Nothing),
            ("drbdsetup events2 r0 --now", Secondary, 0, Lines(SEEN), Nothing),
        ],
    ),
    (
        INIT,
        &[
            ("drbdadm sh-nop", Down, 0, Nothing, Nothing),
            ("drbdadm adjust-with-progress all", Down, 0, Nothing, Nothing),
            ("drbdadm sh-dev all", Secondary, 0, Lines(&["/dev/drbd1"]), Nothing),
            ("drbdadm wait-con-int", Secondary, 0, Nothing, Nothing),
            ("drbdadm wait-con-int", Down, 0, Nothing, Nothing),
            ("drbdadm wait-con-int r0", Secondary, 0, Nothing, Has("about all resources")),
            ("drbdadm --stacked sh-resources", Secondary, 0, Nothing, Nothing),
            ("drbdadm -S sh-dev all", Secondary, 1, Nothing, Has("stacked")),
            ("drbdadm sh-resources", Secondary, 0, Is("r0\n"), Nothing),
            ("drbdadm adjust all", Secondary, 0, Nothing, Nothing),
            ("drbdadm help sh-b-pri", Secondary, 1, Nothing, Has("sh-b-pri")),
        ],
    ),
    (
        OCF,
        &[
            ("drbdadm --version", Secondary, 0, Has("\nDRBD_KERNEL_VERSION_CODE=0x09"), Nothing),
            ("drbdadm sh-dev r0", Secondary, 0, Is("/dev/drbd1\n"), Nothing),
            ("drbdadm --stacked sh-dev r0", Secondary, 1, Nothing, Has("stacked")),
            ("drbdadm -d -v dump r0", Secondary, 0, Has("resource r0 {"), Nothing),
            ("drbdadm sh-mod-parms", Secondary, 0, Lines(&["minor_count="]), Nothing),
            ("drbdadm check-resize r0", Down, 0, Nothing, Nothing),
            ("drbdadm new-resource r0", Down, 0, Nothing, Nothing),
            ("drbdadm new-minor r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm adjust --skip-net r0", Down, 0, Nothing, Nothing),
            (
                "drbdsetup wait-connect-connection r0 1 --wfc-timeout=5 --degr-wfc-timeout=5 \
                 --outdated-wfc-timeout=5",
                Secondary,
                0,
                Nothing,
                Nothing,
            ),
            (
                "drbdsetup wait-connect-resource r0 --wfc-timeout=5 --degr-wfc-timeout=5",
                Secondary,
                0,
                Nothing,
                Nothing,
            ),
            ("drbdadm adjust r0:n1", Secondary, 0, Nothing, Nothing),
            ("drbdadm -v adjust r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm primary r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm secondary r0", Primary, 0, Nothing, Nothing),
            ("drbdadm outdate r0", Secondary, 11, Nothing, Has("r0: State change failed")),
            ("drbdadm down r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm down r0", Down, 0, Nothing, Has("there is nothing to take down")),
        ],
    ),
    (
        HELPERS,
        &[
            ("drbdadm -V", Secondary, 0, Has("\nDRBDADM_VERSION_CODE=0x09"), Nothing),
            ("drbdsetup events2 --timestamps --now", Down, 0, Has(" exists -\n"), Nothing),
            ("drbdadm sh-ll-dev r0/0", Secondary, 0, Is("DIR/disk0\n"), Nothing),
            ("drbdadm sh-minor r0", Secondary, 0, Is("1\n"), Nothing),
            ("drbdadm -S sh-lr-of r0", Secondary, 1, Nothing, Has("stacked")),
            (
                // By the source of drbd-utils of March 2024: it needs DRBD in the kernel to run.
                "drbdsetup udev 1",
                Secondary,
                0,
                Lines(&[
                    "DEVICE=drbd1",
                    "SYMLINK_BY_RES=drbd/by-res/r0/0",
                    "SYMLINK_BY_DISK=drbd/by-disk/DIR/disk0",
                ]),
                Nothing,
            ),
            ("drbdadm -d up all", Down, 0, Has("drbdsetup new-minor r0 1 0\n"), Nothing),
        ],
    ),
    (
        OVERVIEW,
        &[
            ("drbdsetup events2 --now --statistics", Secondary, 0, Lines(SEEN), Nothing),
            (
                "drbdsetup events2 --now --statistics --color=always",
                Secondary,
                0,
                Lines(SEEN),
                Nothing,
            ),
            ("drbdsetup status r0 --json", Secondary, 0, Json(1, OF_RESOURCE), Nothing),
            ("drbdsetup status --json", Secondary, 0, Json(1, OF_RESOURCE), Nothing),
            ("drbdsetup status --json", Down, 0, Json(0, &[]), Nothing),
            (
                "drbdsetup status nosuch --json",
                Secondary,
                10,
                Json(0, &[]),
                Has("nosuch: No such resource\n"),
            ),
            ("drbdsetup status r0 --json", Down, 10, Json(0, &[]), Has("r0: No such resource\n")),
            (
                "drbdsetup show r0 --json",
                Secondary,
                0,
                Json(1, &["resource", "options", "_this_host", "connections"]),
                Nothing,
            ),
            (
                "drbdadm invalidate --reset-bitmap=no r0:n1",
                Secondary,
                10,
                Nothing,
                Has("verify --repair"),
            ),
            (
                "drbdadm invalidate-remote --reset-bitmap=no r0:n1",
                Secondary,
                10,
                Nothing,
                Has("drbdadm invalidate r0"),
            ),
            ("drbdsetup verify r0 1 0", Primary, 0, Nothing, Nothing),
        ],
    ),
    (
        LINSTOR,
        &[
            ("drbdadm -vvv adjust r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm -vvv adjust --skip-net --skip-disk r0", Secondary, 0, Nothing, Nothing),
            (
                "drbdadm -vvv adjust --discard-my-data --skip-disk r0",
                Secondary,
                10,
                Nothing,
                Has("`connect --discard-my-data`"),
            ),
            ("drbdadm resize --al-stripes=2 r0", Primary, 0, Nothing, Has("not striped")),
            ("drbdadm adjust r0/0", Secondary, 0, Nothing, Nothing),
            ("drbdadm -vvv primary r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm -vvv secondary r0", Primary, 0, Nothing, Nothing),
            ("drbdadm -vvv disconnect r0", Secondary, 0, Nothing, Nothing),
            (
                "drbdsetup wait-connect-resource --wait-after-sb=yes --wfc-timeout=10 r0",
                Secondary,
                0,
                Nothing,
                Nothing,
            ),
            (
                "drbdsetup wait-sync-resource --wait-after-sb=yes --wfc-timeout=10 r0",
                Secondary,
                0,
                Nothing,
                Nothing,
            ),
            ("drbdsetup forget-peer r0 9", Secondary, 0, Nothing, Nothing),
            ("drbdsetup del-peer r0 1", Secondary, 0, Nothing, Has("stays a member")),
            ("drbdadm suspend-io r0", Primary, 0, Nothing, Nothing),
            ("drbdadm resume-io r0", Primary, 0, Nothing, Nothing),
            ("drbdsetup resume-io 1", Primary, 0, Nothing, Nothing),
            ("drbdsetup detach 1 --diskless", Secondary, 10, Nothing, Has("`disk none`")),
            ("drbdsetup detach 1", Secondary, 0, Nothing, Nothing),
            (
                "drbdadm --config-to-test DIR/r0.res --config-to-exclude DIR/r0.res sh-nop",
                Secondary,
                0,
                Nothing,
                Nothing,
            ),
            ("drbdsetup down r0", Secondary, 0, Nothing, Nothing),
            (
                "drbdadm -vvv --max-peers 7 -- --force create-md r0/0",
                Down,
                0,
                Has("wrote metadata"),
                Nothing,
            ),
        ],
    ),
    (
        BY_HAND,
        &[
            ("drbdadm -W--force=yes secondary r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm -W --force secondary r0", Primary, 0, Nothing, Nothing),
            ("drbdadm --setup-option=--force secondary r0", Secondary, 0, Nothing, Nothing),
            ("drbdadm -W--nosuch secondary r0", Secondary, 1, Nothing, Has("--nosuch")),
            (
                "drbdadm -W--on-no-quorum=io-error resource-options r0",
                Primary,
                0,
                Nothing,
                HERE_ALONE,
            ),
            (
                "drbdadm -d resource-options r0 --auto-promote=no",
                Secondary,
                0,
                OPTION_STEP,
                Nothing,
            ),
            ("drbdadm resource-options r0 --auto-promote=no", Primary, 0, Nothing, HERE_ALONE),
            (
                "drbdadm resource-options r0 --quorum=off",
                Primary,
                10,
                Nothing,
                Has("for all nodes"),
            ),
            ("drbdadm resource-options r0 --set-defaults", Secondary, 0, Nothing, Nothing),
            ("drbdadm net-options r0 --set-defaults", Secondary, 0, Nothing, Nothing),
            ("drbdadm net-options r0 --timeout=60", Secondary, 10, Nothing, FROM_CONFIGURATION),
            ("drbdsetup resource-options r0 --set-defaults", Secondary, 0, Nothing, Nothing),
            (
                "drbdsetup resource-options r1 --auto-promote",
                Secondary,
                10,
                Nothing,
                Has("(158) Unknown"),
            ),
            ("drbdsetup resource-options r0 --auto-promote", Down, 10, Nothing, UNKNOWN),
            ("drbdsetup disk-options 1 --set-defaults", Secondary, 10, Nothing, FROM_CONFIGURATION),
            (
                "drbdsetup net-options r0 1 --set-defaults",
                Secondary,
                10,
                Nothing,
                FROM_CONFIGURATION,
            ),
            ("drbdadm -n RESULT -p /bin/true sh-nop", Secondary, 0, Nothing, Nothing),
            ("drbdsetup events2 --poll r0", Secondary, 0, Lines(SEEN), Nothing),
        ],
    ),
    (
        REACTOR,
        &[
            ("drbdadm --version", Secondary, 0, Has("DRBDADM_VERSION_CODE=0x09"), Nothing),
            ("drbdsetup events2 --full --poll --now", Secondary, 0, Lines(SEEN), Nothing),
            ("drbdsetup status --json", Secondary, 0, Json(1, OF_RESOURCE), Nothing),
            ("drbdsetup show --json", Secondary, 0, Json(1, &["resource", "connections"]), Nothing),
        ],
    ),
    (
        CHECKS,
        &[
            ("drbdsetup status", Secondary, 0, Lines(STATUS), Nothing),
            ("drbdadm status r0", Secondary, 0, Lines(STATUS), Nothing),
            ("drbdadm status --color r0", Secondary, 0, Lines(STATUS), Nothing),
            ("drbdsetup status --color=never", Secondary, 0, Lines(STATUS), Nothing),
            ("drbdsetup status", Down, 0, Is("# No currently configured DRBD found.\n"), Nothing),
            ("drbdadm status nosuch", Secondary, 10, Nothing, Has("nosuch: No such resource\n")),
            ("drbdadm role r0", Secondary, 0, Is("Secondary\n"), Nothing),
            ("drbdadm role r0", Down, 10, Nothing, UNKNOWN),
            ("drbdsetup role r0", Secondary, 0, Is("Secondary\n"), Nothing),
            ("drbdadm cstate r0", Secondary, 0, Is("Connected\nConnected\n"), Nothing),
            ("drbdsetup cstate r0 1", Secondary, 0, Is("Connected\n"), Nothing),
            ("drbdadm dstate r0", Secondary, 0, Is("UpToDate/UpToDate/UpToDate\n"), Nothing),
            ("drbdsetup dstate 1", Secondary, 0, Is("UpToDate/UpToDate/UpToDate\n"), Nothing),
        ],
    ),
];

#[test]
fn lines_of_tools_have_drbds_exit_codes_and_shapes() {
    let cluster = Cluster::start_in_sync(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let programs = cluster.directory.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let mut install = Command::new(env!("CARGO_BIN_EXE_basalt"));
    assert!(install.arg("install-links").arg(&programs).status().unwrap().success());
    assert!(ROWS.iter().map(|(_, rows)| rows.len()).sum::<usize>() >= 60);
    for (tool, rows) in ROWS {
        for (line, state, exit, out, err) in *rows {
            bring(&cluster, *state);
            let output = typed(&cluster, &programs, line);
            let place = format!("{tool}: `{line}` of a resource that is {state:?}");
            let told = |bytes: &[u8]| {
                let directory = cluster.directory.path().display().to_string();
                // udev names a disk by its path below /dev, where it is there.
                let below_dev = directory.strip_prefix("/dev/").unwrap_or(&directory);
                let text = String::from_utf8_lossy(bytes).replace(&directory, "DIR");
                text.replace(below_dev, "DIR")
            };
            let (stdout, stderr) = (told(&output.stdout), told(&output.stderr));
            let said = format!("{place}: {:?}\nout: {stdout}\nerr: {stderr}", output.status);
            assert_eq!(output.status.code(), Some(*exit), "{said}");
            assert!(out.fits(&stdout), "{said}\nbut out: {out:?}");
            assert!(err.fits(&stderr), "{said}\nbut err: {err:?}");
        }
    }
}

impl Shape {
    fn fits(self, text: &str) -> bool {
        match self {
            Nothing => text.is_empty(),
            Is(whole) => text == whole,
            Has(part) => text.contains(part),
            Lines(starts) => {
                let lines: Vec<&str> = text.lines().collect();
                let begins = |(line, start): (&&str, &&str)| line.starts_with(start);
                lines.len() == starts.len() && lines.iter().zip(starts).all(begins)
            }
            Json(count, keys) => {
                let Ok(list) = serde_json::from_str::<Vec<serde_json::Value>>(text) else {
                    return false;
                };
                list.len() == count
                    && list.iter().all(|one| keys.iter().all(|key| one.get(key).is_some()))
            }
        }
    }
}

/// Has `r0` so on the first node.
fn bring(cluster: &Cluster, state: State) {
    if state == Down {
        return cluster.adm_ok(0, &["down", "r0"]);
    }
    cluster.adm_ok(0, &["adjust", "r0"]);
    cluster.wait_up_to_date(0);
    let (role, verb) = match state {
        Primary => (Role::Primary, "primary"),
        Secondary | Down => (Role::Secondary, "secondary"),
    };
    if cluster.role(0) != role {
        cluster.adm_ok(0, &[verb, "r0"]);
    }
    // Peers hear of a role a little later.
    cluster.wait_connected(0);
}

/// On the first node, whose name and configuration file its host would tell.
fn typed(cluster: &Cluster, programs: &Path, line: &str) -> Output {
    let directory = cluster.directory.path().display().to_string();
    let line = line.replace("DIR", &directory);
    let mut words = line.split(' ');
    let program = words.next().unwrap();
    let mut command = Command::new(programs.join(program));
    command.env("BASALT_ADMIN_SOCKET", cluster.state_dir(0).join("admin.sock"));
    if program == "drbdadm" {
        command.arg("-c").arg(cluster.config());
    }
    command.args(words);
    let is_of_host = |verb: &str| line.contains(verb);
    let verbs = ["sh-dev", "sh-resources", "sh-ll-dev", "sh-minor", "create-md", "-d up"];
    if verbs.into_iter().any(is_of_host) {
        command.args(["--node", "n0"]);
    }
    command.stdin(Stdio::null()).output().unwrap()
}
