#compdef basalt

autoload -U is-at-least

_basalt() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
":: :_basalt_commands" \
"*::: :->basalt" \
&& ret=0
    case $state in
    (basalt)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-command-$line[1]:"
        case $line[1] in
            (explain)
_arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
'*::words:_default' \
&& ret=0
;;
(top)
_arguments "${_arguments_options[@]}" : \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--interval=[Seconds from one look at the daemon to the next]:INTERVAL:_default' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(device)
_arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
":: :_basalt__subcmd__device_commands" \
"*::: :->device" \
&& ret=0

    case $state in
    (device)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-device-command-$line[1]:"
        case $line[1] in
            (remove)
_arguments "${_arguments_options[@]}" : \
'--force[Remove one that a daemon serves, too]' \
'-h[Print help]' \
'--help[Print help]' \
'*::devices -- The N of /dev/ublkbN:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__device__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-device-help-command-$line[1]:"
        case $line[1] in
            (remove)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(pki)
_arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
":: :_basalt__subcmd__pki_commands" \
"*::: :->pki" \
&& ret=0

    case $state in
    (pki)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-pki-command-$line[1]:"
        case $line[1] in
            (init)
_arguments "${_arguments_options[@]}" : \
'--dir=[Where the CA is to be kept; its key must not leave this folder]:DIR:_files' \
'--days=[How long its certificate is valid]:DAYS:_default' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(issue)
_arguments "${_arguments_options[@]}" : \
'--dir=[Where the CA is]:DIR:_files' \
'--days=[How long the certificate is valid]:DAYS:_default' \
'*--address=[A host name or address that NBD clients use for this node; may be given more than once]:HOST:_default' \
'-h[Print help]' \
'--help[Print help]' \
':node -- Name of the node, as in the `on` sections of the configuration:_default' \
&& ret=0
;;
(issue-client)
_arguments "${_arguments_options[@]}" : \
'--dir=[Where the CA is]:DIR:_files' \
'--days=[How long the certificate is valid]:DAYS:_default' \
'-h[Print help]' \
'--help[Print help]' \
':client -- Name of the client, as in the file `clients` of the nodes:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__pki__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-pki-help-command-$line[1]:"
        case $line[1] in
            (init)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(issue)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(issue-client)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(install-links)
_arguments "${_arguments_options[@]}" : \
'--force[Replace what is there under these names]' \
'-h[Print help]' \
'--help[Print help]' \
':directory -- Where to make them; it must be there:_files' \
&& ret=0
;;
(bench)
_arguments "${_arguments_options[@]}" : \
'--nodes=[Nodes with replicas; three of them are joined by as many without, which serve]:NODES:_default' \
'--volumes=[Volumes that each node serves, each with a load of its own]:VOLUMES:_default' \
'--seconds=[Measured seconds of each load]:SECONDS:_default' \
'--warm-up=[Seconds of each load before it is measured]:WARM_UP:_default' \
'--size-mib=[MiB of each volume, all of it written before anything is measured]:SIZE_MIB:_default' \
'--place=[Where the files go; tmpfs measures the software, a file system on a disk the whole]:PLACE:_files' \
'--hosts=[What a node is\: by default a network namespace where there are more than three]:HOSTS:((loopback\:"Each node has a loopback address of its own"
namespaces\:"Each node is in a network namespace of its own, which takes root"))' \
'--shards=[Threads that carry data in each daemon]:SHARDS:_default' \
'*--peer=[What else runs the same loads, if it is installed here]:PEERS:((quorum\:"QEMU'\''s quorum driver over three storage daemons, for each volume"
nbdkit\:"nbdkit'\''s memory plugin for each volume\: one copy, no network"))' \
'--out=[Where basalt-bench.json and basalt-bench.html go]:DIR:_files' \
'(--volumes --seconds --warm-up --size-mib)--short[One volume per node of 32 MiB, a second per load\: whether it works, not how fast]' \
'--json[Print the result as JSON]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
":: :_basalt__subcmd__bench_commands" \
"*::: :->bench" \
&& ret=0

    case $state in
    (bench)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-bench-command-$line[1]:"
        case $line[1] in
            (verify)
_arguments "${_arguments_options[@]}" : \
'*--nbd=[Exports of one volume, comma separated; the checker moves on when one fails]:NBD:_default' \
'--seconds=[How long to load the volume]:SECONDS:_default' \
'(--nbd --seconds --seed)--kill-schedule=[Start three nodes, and kill and restart them as this seed says, instead of --nbd]:SEED:_default' \
'(--nbd)--kills=[How many rounds of killing]:KILLS:_default' \
'(--nbd)*--victims=[Whom to kill, each equally often]:VICTIMS:((primary\:"The node that serves"
secondary\:"One of the others"
sync-target\:"A secondary that has just come back and is being filled"
both-secondaries\:"Too few are left to go on, until one is back"
everyone\:"All at once"))' \
'(--nbd)--place=[Where the nodes'\'' files go, in a directory that is removed at the end]:PLACE:_files' \
'(--nbd)*--shards=[Threads that carry data, of the nodes in turn]:SHARDS:_default' \
'--span-mib=[MiB from the start of the volume that are written and read]:SPAN_MIB:_default' \
'--connections=[Connections, where the server allows several]:CONNECTIONS:_default' \
'--depth=[Requests in flight per connection]:DEPTH:_default' \
'--seed=[Seed of the mix of requests; random when left out]:SEED:_default' \
'--answer-limit=[Seconds that a request may take before its connection is given up]:ANSWER_LIMIT:_default' \
'--reconnect-limit=[Seconds without any server before the run has failed]:RECONNECT_LIMIT:_default' \
'--json[Print the result as JSON]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(canary)
_arguments "${_arguments_options[@]}" : \
'--json[Print the result as JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(write)
_arguments "${_arguments_options[@]}" : \
'*--depth=[Writes in flight, one run each]:DEPTH:_default' \
'--seconds=[Measured seconds of each run]:SECONDS:_default' \
'--repeat=[Runs of each system at each depth, of which the median counts]:REPEAT:_default' \
'--size-mib=[MiB of the volume, all of it written over and over]:SIZE_MIB:_default' \
'--place=[Where the files go; tmpfs for the figures to mean what they say]:PLACE:_files' \
'--shards=[Threads that carry data in each of Basalt'\''s daemons]:SHARDS:_default' \
'*--systems=[Which systems take part]:SYSTEMS:(basalt quorum nbdkit)' \
'--json[Print the result as JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(rows)
_arguments "${_arguments_options[@]}" : \
'*--row=[Which rows; all when left out]:ROWS:((write-32\:"Random writes, 32 in flight"
write-128\:"The same, 128 in flight over four connections"
write-1\:"One write after the other"
read-local\:"Random reads where the serving node has a replica"
read-client\:"Random reads where it has none"
sequential-write\:"Large writes in a row"
sequential-read-links\:"Large reads in a row from hosts whose links are slow"
commit\:"One write and flush after the other, on a disk"))' \
'--seconds=[Measured seconds of each run]:SECONDS:_default' \
'--repeat=[Rounds, in each of which every system of a row runs once]:REPEAT:_default' \
'--size-mib=[MiB of the volume, written once before anything is measured]:SIZE_MIB:_default' \
'--place=[Where the files go; tmpfs for the figures to tell of the software]:PLACE:_files' \
'--disk=[Where they go for the row that is about a disk]:DISK:_files' \
'--shards=[Threads that carry data in each of Basalt'\''s daemons]:SHARDS:_default' \
'--placement=[Where fio and the servers of every system run]:PLACEMENT:((any\:"The kernel decides, and changes its mind"
split\:"fio and the server that it asks have one CPU, all other servers another one"
one\:"All of them have one CPU"))' \
'--link-mbit=[What each replica'\''s host may send, where links are the limit]:LINK_MBIT:_default' \
'--json[Print the result as JSON]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(idle)
_arguments "${_arguments_options[@]}" : \
'--volumes=[How many volumes, each a resource of its own with three replicas]:VOLUMES:_default' \
'--size-mib=[MiB of each backing file, which is sparse]:SIZE_MIB:_default' \
'--writes=[Blocks of 4 KiB that are written before, at random places of the first volume]:WRITES:_default' \
'--seconds=[How long the nodes are left alone; CPU time is counted meanwhile]:SECONDS:_default' \
'--place=[Where the sparse files go, in a directory that is removed at the end]:PLACE:_files' \
'--primary[The first node is Primary of all volumes, and nobody uses them]' \
'--json[Print the result as JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(resync)
_arguments "${_arguments_options[@]}" : \
'--rounds=[Absences]:ROUNDS:_default' \
'--absence=[What happens to the node]:ABSENCE:((frozen\:"It stands still, and goes on as if nothing had happened"
killed\:"Its daemon is killed, and starts again\: what its activity log names is copied, too"))' \
'--away=[Seconds of each absence]:AWAY:_default' \
'--base=[Seconds of each window in which nothing is copied]:BASE:_default' \
'--size-mib=[MiB of the volume, all of which is written before]:SIZE_MIB:_default' \
'--depth=[Writes in flight]:DEPTH:_default' \
'--place=[Where the replicas go, in a directory that is removed at the end]:PLACE:_files' \
'--json[Print the result as JSON]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(chaos)
_arguments "${_arguments_options[@]}" : \
'--seconds=[How long to strike]:SECONDS:_default' \
'--replicas=[Nodes with a replica]:REPLICAS:_default' \
'--clients=[Nodes without one]:CLIENTS:_default' \
'*--shards=[Threads that carry data, of the nodes in turn]:SHARDS:_default' \
'--disks=[The disks of the nodes; other than plain ones are FUSE mounts, and so slower]:DISKS:((plain\:"Files where the nodes are"
volatile\:"What was not flushed is lost when the power is cut, each 4 KiB of a write or not"
lying\:"Flushes of the data are acknowledged and do nothing\: the checker has to notice"
failing\:"Reads, writes and flushes are refused for a while"))' \
'--schedule=[Seed of the schedule; random when left out]:SEED:_default' \
'--place=[Where the nodes'\'' files go, in a directory that is removed at the end]:PLACE:_files' \
'--span-mib=[MiB from the start of the volume that are written and read]:SPAN_MIB:_default' \
'--connections=[Connections, where the server allows several]:CONNECTIONS:_default' \
'--depth=[Requests in flight per connection]:DEPTH:_default' \
'--seed=[Seed of the mix of requests; random when left out]:SEED:_default' \
'--answer-limit=[Seconds that a request may take before its connection is given up]:ANSWER_LIMIT:_default' \
'--reconnect-limit=[Seconds without any server before the run has failed]:RECONNECT_LIMIT:_default' \
'--json[Print the result as JSON]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(failover)
_arguments "${_arguments_options[@]}" : \
'--rounds=[How often each of the first four happens]:ROUNDS:_default' \
'--restarts=[How often the daemon that serves is restarted]:RESTARTS:_default' \
'--place=[Where the nodes'\'' files go, in a directory that is removed at the end]:PLACE:_files' \
'--json[Print the result as JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(upgrade)
_arguments "${_arguments_options[@]}" : \
'--other=[The binary of the other version]:OTHER:_files' \
'--place=[Where the nodes'\'' files go, in a directory that is removed at the end]:PLACE:_files' \
'--span-mib=[MiB from the start of the volume that are written and read]:SPAN_MIB:_default' \
'--connections=[Connections, where the server allows several]:CONNECTIONS:_default' \
'--depth=[Requests in flight per connection]:DEPTH:_default' \
'--seed=[Seed of the mix of requests; random when left out]:SEED:_default' \
'--answer-limit=[Seconds that a request may take before its connection is given up]:ANSWER_LIMIT:_default' \
'--reconnect-limit=[Seconds without any server before the run has failed]:RECONNECT_LIMIT:_default' \
'--json[Print the result as JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(puppet)
_arguments "${_arguments_options[@]}" : \
'--size-mib=[MiB of the volume]:SIZE_MIB:_default' \
'--place=[Where the three backing files go, in a directory that is removed at the end]:PLACE:_files' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__bench__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-bench-help-command-$line[1]:"
        case $line[1] in
            (verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(canary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(write)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rows)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(idle)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(chaos)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(failover)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(upgrade)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(puppet)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(demo)
_arguments "${_arguments_options[@]}" : \
'--seconds-scale=[Stretches or shortens the load between the steps]:SECONDS_SCALE:_default' \
'--size-mib=[MiB of the volume]:SIZE_MIB:_default' \
'--place=[Where the three backing files go, in a directory that is removed at the end]:PLACE:_files' \
'--fio[Also measure random 4 KiB writes with fio, which must be installed]' \
'--json[Print the result as JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(node)
_arguments "${_arguments_options[@]}" : \
'--name=[Name of this node, as in the \`on\` sections of the configuration]:NAME:_default' \
'--state-dir=[Directory for what the node must not lose; it is made if it is not there]:DIR:_files' \
'--admin-socket=[Answer \`basalt adm\` on this unix socket \[default\: admin.sock in the state directory\]]:PATH:_files' \
'--admin-group=[Let this group, by name or number, use that socket too; without it only the daemon'\''s own user may. Who may use it may do anything to the resources]:GROUP:_default' \
'*--nbd=[Serve NBD clients on this address; may be given more than once]:ADDRESS:PORT:_default' \
'*--nbd-tls=[Serve NBD clients on this address that use TLS and show a certificate (\`basalt pki issue-client\`); the file \`clients\` in the directory of --pki says what they may use. May be given more than once]:ADDRESS:PORT:_default' \
'*--nbd-unix=[Serve NBD clients on this unix socket; may be given more than once]:PATH:_files' \
'*--nvme=[Serve NVMe/TCP initiators on this address, usually on port 4420 and, for discovery, on 8009; may be given more than once. There is no encryption, and without --nvme-auth no password]:ADDRESS:PORT:_default' \
'--nvme-auth=[Have NVMe/TCP initiators prove that they know a secret (DH-HMAC-CHAP). The file has a line for each host and resource\: NQN of the host, resource or \`*\`, secret (\`DHHC-1\:..\:\`, made by \`nvme gen-dhchap-key\`), and a second secret for hosts that want a proof of this node, too. It is for the daemon'\''s user alone, and is read again when it changes]:FILE:_files' \
'--vhost=[Serve virtual machines (vhost-user-blk) on a unix socket for each volume in this directory, named RESOURCE-VOLUME.sock; its group may use them]:DIR:_files' \
'--metrics=[Serve metrics for Prometheus on this address, under /metrics. There is neither a password nor encryption\: take a loopback address, such as 127.0.0.1\:9942]:ADDRESS:PORT:_default' \
'--pki=[Directory with the certificates of this node\: ca.crt, node.crt and node.key, as \`basalt pki issue\` writes them. They are read again when they change]:DIR:_files' \
'--shards=[Threads that carry data; as many as the machine has cores, at most 8, if not given]:SHARDS:_default' \
'--spin-us=[For how many microseconds a data thread whose clients ask for little at a time looks for the next event before it sleeps\: the processor that takes is paid back in latency, and on a virtual machine in wake-ups. 0\: not at all. A thread never looks on a machine of one core]:MICROSECONDS:_default' \
'--tcp-congestion=[Congestion control of TCP connections\: a name that the kernel has (\`sysctl net.ipv4.tcp_available_congestion_control\`), \`system\` for the system'\''s own, or \`auto\` for that, but cubic (or reno) where that is BBR, which spreads over time what it sends and so costs replication throughput over a short way]:NAME:_default' \
'--device-timeout=[How many seconds the users of a block device wait when this daemon died. If no daemon has taken the device over by then, their requests fail and the device goes]:SECONDS:_default' \
'--max-parallel-resyncs=[How many resources may be brought up to date at a time on this node; 0 is any number. The others wait for their turn, and show \`PausedSyncT\`]:NUMBER:_default' \
'--drbd-names[Give the volumes that are up DRBD'\''s names, too\: /dev/drbdN for \`device minor N\`, from \`up\` to \`down\`, and /dev/drbd/by-res/RESOURCE/VOLUME. On a Secondary they cannot be opened]' \
'--exit-with-parent[End when the process that started the daemon ends]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(adm)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-t+[Also read this file, and say what is wrong with it]:FILE:_files' \
'--config-to-test=[Also read this file, and say what is wrong with it]:FILE:_files' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_basalt__subcmd__adm_commands" \
"*::: :->adm" \
&& ret=0

    case $state in
    (adm)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-adm-command-$line[1]:"
        case $line[1] in
            (create-md)
_arguments "${_arguments_options[@]}" : \
'--max-peers=[Leave room for so many peers \[default\: 7, or as many as are configured if that is more\]]:N:_default' \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon\: it notes the size that a disk had]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Overwrite what is on the disk\: a file system, or metadata]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(adopt-drbd)
_arguments "${_arguments_options[@]}" : \
'*--same-as=[Refuse unless the data is known to be that of this generation of DRBD; of several volumes one for each, by their numbers, with commas]:GENERATION:_default' \
'*--drbd-meta-disk=[Where DRBD keeps its metadata\: \`internal\`, PATH or \`PATH\[N\]\` \[default\: where it is found\]; of several volumes \`VOL=WHERE\`, once for each]:WHERE:_default' \
'--max-peers=[Leave room for so many peers \[default\: as many as are configured, and some more\]]:N:_default' \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon\: DRBD'\''s metadata is kept there]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'(--same-as --max-peers)--rollback[Put DRBD'\''s metadata back, as it was; only until the resource is used]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(adopt)
_arguments "${_arguments_options[@]}" : \
'(--from)--save=[Only show what this node has, and keep that in FILE for the other nodes]:FILE:_files' \
'*--from=[The file of a node, this one'\''s among them; once for each]:FILE:_files' \
'*--without=[Nodes whose disks are gone, or whose data is not to count]:NODES:_default' \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--in-doubt[Go on where acknowledged writes may be lost]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource -- The resource; it has to be down on this node:_default' \
&& ret=0
;;
(up)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration, for --dry-run \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all` or RES:_default' \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(adjust)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--skip-disk[Leave a disk that is out of use so]' \
'--skip-net[Leave peers that are disconnected so]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES\:PEER; also RES/VOL, for all volumes:_default' \
&& ret=0
;;
(adjust-with-progress)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--skip-disk[Leave a disk that is out of use so]' \
'--skip-net[Leave peers that are disconnected so]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES\:PEER; also RES/VOL, for all volumes:_default' \
&& ret=0
;;
(attach)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(detach)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do not wait for requests that the disk still owes]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(connect)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--discard-my-data[After a split brain\: give up what this node wrote since then, and take the peer'\''s]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(disconnect)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(primary)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(new-current-uuid)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--clear-bitmap[The replicas hold the same already, as fresh zeros do\: nothing is to be copied]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(secondary)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--color=[Accepted for compatibility\: there are no colours]::WHEN:(always auto never)' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-s[Show counters]' \
'--statistics[Show counters]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all` or RES \[default\: all\]:_default' \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'--dir=[Where the folder is made]:DIR:_files' \
'--state-dir=[State directory of the daemon]:DIR:_files' \
'--log=[Log of the daemon \[default\: the journal of the unit basalt-node\]]:FILE:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(events2)
_arguments "${_arguments_options[@]}" : \
'--color=[Accepted for compatibility\: there are no colours]::WHEN:(always auto never)' \
'--rcvbuf=[Accepted for compatibility\: the daemon bounds what waits for a reader]:BYTES:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--now[Tell the state, and end]' \
'--timestamps[Begin each line with the time]' \
'-s[Tell counters too]' \
'--statistics[Tell counters too]' \
'--diff[Tell changes as \`old->new\`]' \
'--full[Tell of a changed object also what did not change]' \
'--poll[Tell changed counters for each \`n\` on standard input, and end with it]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all` or RES \[default\: all\]:_default' \
&& ret=0
;;
(role)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(cstate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(dstate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(wait-connect)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES\:PEER:_default' \
&& ret=0
;;
(wait-con-int)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- Changes nothing\: it is about all of them:_default' \
&& ret=0
;;
(wait-sync)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES\:PEER:_default' \
&& ret=0
;;
(dump)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--strict[Fail where an option is set in two places of which drbdadm would not know which one counts]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all` or RES \[default\: all\]:_default' \
&& ret=0
;;
(dump-xml)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--strict[Fail where an option is set in two places of which drbdadm would not know which one counts]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all` or RES \[default\: all\]:_default' \
&& ret=0
;;
(sh-nop)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(sh-mod-parms)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(sh-resources)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(sh-list-adjustable)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(sh-list-config-file)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(sh-resource)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(sh-dev)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(sh-minor)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(sh-ll-dev)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(sh-md-dev)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(sh-md-idx)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(sh-ip)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(sh-udev)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(new-resource)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(new-minor)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(new-peer)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(new-path)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(del-peer)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(del-path)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(del-minor)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(check-resize)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(outdate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(peer-role)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(hidden-commands)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(apply-al)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(repair-md)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(forget-peer)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(invalidate-remote)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- RES\:PEER or RES\:PEER/VOL:_default' \
&& ret=0
;;
(pause-sync)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(resume-sync)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(disk-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--set-defaults[Always so\: what the configuration does not say is the default]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL, RES\:PEER or RES\:PEER/VOL\: of all that the resource has:_default' \
&& ret=0
;;
(net-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--set-defaults[Always so\: what the configuration does not say is the default]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL, RES\:PEER or RES\:PEER/VOL\: of all that the resource has:_default' \
&& ret=0
;;
(resource-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--set-defaults[Always so\: what the configuration does not say is the default]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL, RES\:PEER or RES\:PEER/VOL\: of all that the resource has:_default' \
&& ret=0
;;
(peer-device-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--set-defaults[Always so\: what the configuration does not say is the default]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL, RES\:PEER or RES\:PEER/VOL\: of all that the resource has:_default' \
&& ret=0
;;
(dump-md)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon\: it notes the size that a disk had]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or, of a generation, RES\:PEER or RES\:PEER/VOL:_default' \
&& ret=0
;;
(dump-superblock)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon\: it notes the size that a disk had]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or, of a generation, RES\:PEER or RES\:PEER/VOL:_default' \
&& ret=0
;;
(get-gi)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon\: it notes the size that a disk had]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or, of a generation, RES\:PEER or RES\:PEER/VOL:_default' \
&& ret=0
;;
(show-gi)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon\: it notes the size that a disk had]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or, of a generation, RES\:PEER or RES\:PEER/VOL:_default' \
&& ret=0
;;
(wipe-md)
_arguments "${_arguments_options[@]}" : \
'--node=[Name of this node in the configuration \[default\: the host name\]]:NAME:_default' \
'--state-dir=[State directory of the daemon\: it notes the size that a disk had]:DIR:_files' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or, of a generation, RES\:PEER or RES\:PEER/VOL:_default' \
&& ret=0
;;
(set-gi)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::words -- As for drbdadm:_default' \
&& ret=0
;;
(invalidate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL, RES\:PEER or RES\:PEER/VOL:_default' \
&& ret=0
;;
(verify)
_arguments "${_arguments_options[@]}" : \
'-s+[Begin here\: sectors of 512 bytes, or a number with K, M or G]:SECTORS:_default' \
'--start=[Begin here\: sectors of 512 bytes, or a number with K, M or G]:SECTORS:_default' \
'-S+[End here]:SECTORS:_default' \
'--stop=[End here]:SECTORS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--repair[Make equal what differs\: as most replicas have it, or this node'\''s without a majority]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL; also RES\:PEER and RES\:PEER/VOL, for the same:_default' \
&& ret=0
;;
(suspend-io)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(resume-io)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(reopen)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES, RES/VOL or RES\:PEER:_default' \
&& ret=0
;;
(resize)
_arguments "${_arguments_options[@]}" : \
'-s+[The new size\: sectors of 512 bytes, or a number with K, M or G; else as large as all disks of up-to-date replicas allow]:SECTORS:_default' \
'--size=[The new size\: sectors of 512 bytes, or a number with K, M or G; else as large as all disks of up-to-date replicas allow]:SECTORS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--assume-clean[Leave what is new as it is\: you say that all replicas hold the same there]' \
'--assume-peer-has-space[Changes nothing\: a disk without room is always refused]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all`, RES or RES/VOL:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__adm__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-adm-help-command-$line[1]:"
        case $line[1] in
            (create-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(adopt-drbd)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(adopt)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(up)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(adjust)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(attach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(detach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(connect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disconnect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(primary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-current-uuid)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(secondary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(events2)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(role)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(cstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-con-int)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dump)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dump-xml)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-nop)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-mod-parms)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-resources)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-list-adjustable)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-list-config-file)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-dev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-ll-dev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-md-dev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-md-idx)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-ip)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-udev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check-resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(outdate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(peer-role)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hidden-commands)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(apply-al)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(repair-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(forget-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate-remote)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(pause-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disk-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(net-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resource-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(peer-device-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dump-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(get-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wipe-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(set-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(suspend-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(reopen)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(setup)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_basalt__subcmd__setup_commands" \
"*::: :->setup" \
&& ret=0

    case $state in
    (setup)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-setup-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
'--color=[Accepted for compatibility\: there are no colours]::WHEN:(always auto never)' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-s[Show counters]' \
'--statistics[Show counters]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all` or RES \[default\: all\]:_default' \
&& ret=0
;;
(events2)
_arguments "${_arguments_options[@]}" : \
'--color=[Accepted for compatibility\: there are no colours]::WHEN:(always auto never)' \
'--rcvbuf=[Accepted for compatibility\: the daemon bounds what waits for a reader]:BYTES:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--now[Tell the state, and end]' \
'--timestamps[Begin each line with the time]' \
'-s[Tell counters too]' \
'--statistics[Tell counters too]' \
'--diff[Tell changes as \`old->new\`]' \
'--full[Tell of a changed object also what did not change]' \
'--poll[Tell changed counters for each \`n\` on standard input, and end with it]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::targets -- `all` or RES \[default\: all\]:_default' \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-D[Show also what was not set]' \
'--show-defaults[Show also what was not set]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::resources -- `all` or a resource \[default\: all\]:_default' \
&& ret=0
;;
(role)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
&& ret=0
;;
(cstate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
&& ret=0
;;
(dstate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
&& ret=0
;;
(primary)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
&& ret=0
;;
(secondary)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Fail the requests that are still open]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
&& ret=0
;;
(connect)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--discard-my-data[After a split brain\: give up what this node wrote since then, and take the peer'\''s]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
&& ret=0
;;
(disconnect)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
&& ret=0
;;
(detach)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do not wait for requests that the disk still owes]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(resize)
_arguments "${_arguments_options[@]}" : \
'-s+[The new size\: sectors of 512 bytes, or a number with K, M or G]:SECTORS:_default' \
'--size=[The new size\: sectors of 512 bytes, or a number with K, M or G]:SECTORS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--assume-clean[Leave what is new as it is]' \
'--assume-peer-has-space[Changes nothing\: a disk without room is always refused]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(invalidate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(suspend-io)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(resume-io)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(new-current-uuid)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--clear-bitmap[The replicas hold the same already]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(invalidate-remote)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(outdate)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(verify)
_arguments "${_arguments_options[@]}" : \
'-s+[Begin here\: sectors of 512 bytes, or a number with K, M or G]:SECTORS:_default' \
'--start=[Begin here\: sectors of 512 bytes, or a number with K, M or G]:SECTORS:_default' \
'-S+[End here]:SECTORS:_default' \
'--stop=[End here]:SECTORS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(get-gi)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(show-gi)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(check-resize)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(pause-sync)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(resume-sync)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(udev)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(del-minor)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
&& ret=0
;;
(del-peer)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--force[Do it also where it is refused for safety]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
&& ret=0
;;
(forget-peer)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
&& ret=0
;;
(del-resource)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
&& ret=0
;;
(rename-resource)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':name:_default' \
&& ret=0
;;
(new-resource)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':node_id:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(new-minor)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':minor:_default' \
':volume:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(new-peer)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(new-path)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':local -- FAMILY\:ADDRESS\:PORT:_default' \
':remote -- FAMILY\:ADDRESS\:PORT:_default' \
&& ret=0
;;
(del-path)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':local -- FAMILY\:ADDRESS\:PORT:_default' \
':remote -- FAMILY\:ADDRESS\:PORT:_default' \
&& ret=0
;;
(attach)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
':disk:_default' \
':meta_disk:_default' \
':meta_index:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(resource-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(disk-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':minor:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(net-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(peer-device-options)
_arguments "${_arguments_options[@]}" : \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
'*::words -- As drbdadm gives them:_default' \
&& ret=0
;;
(wait-connect-resource)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
&& ret=0
;;
(wait-connect-connection)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
&& ret=0
;;
(wait-connect-volume)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(wait-sync-resource)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
&& ret=0
;;
(wait-sync-connection)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
&& ret=0
;;
(wait-sync-volume)
_arguments "${_arguments_options[@]}" : \
'--wfc-timeout=[Where all replicas were in sync]:SECONDS:_default' \
'--degr-wfc-timeout=[Where some replica was not in sync \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'--outdated-wfc-timeout=[Where the replica of this node is outdated \[default\: as --wfc-timeout\]]:SECONDS:_default' \
'-c+[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--config-file=[Configuration file \[default\: /etc/basalt.conf, then /etc/drbd.conf\]]:FILE:_files' \
'--node-socket=[Admin socket of the daemon \[default\: \$BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock\]]:PATH:_files' \
'--timeout=[Give up after so long \[default\: 30; \`primary\` 170; \`new-current-uuid\` 60; \`create-md\`, \`adopt\`, \`adopt-drbd\` 600, for they may have much to write\]; before the verb where that takes options of DRBD, which has a \`timeout\`, too]:SECONDS:_default' \
'--wait-after-sb[Wait also for connections that are StandAlone]' \
'-d[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'--dry-run[Only tell the steps of \`up\` and \`adjust\` and of what takes a resource up or down in steps, what \`primary\` would find and give up, and whether \`adopt\` and \`adopt-drbd\` are possible]' \
'*-v[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'*--verbose[Tell more\: the steps of \`adjust\`, and what \`status\` leaves out; there also twice]' \
'--json[Answer in JSON]' \
'-h[Print help]' \
'--help[Print help]' \
':resource:_default' \
':id -- Its node id:_default' \
':volume:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__setup__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-setup-help-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(events2)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(role)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(cstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(primary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(secondary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(connect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disconnect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(detach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(suspend-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-current-uuid)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate-remote)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(outdate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(get-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check-resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(pause-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(udev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(forget-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rename-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(attach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resource-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disk-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(net-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(peer-device-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect-connection)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect-volume)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync-connection)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync-volume)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-help-command-$line[1]:"
        case $line[1] in
            (explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(top)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(device)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__help__subcmd__device_commands" \
"*::: :->device" \
&& ret=0

    case $state in
    (device)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-help-device-command-$line[1]:"
        case $line[1] in
            (remove)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(pki)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__help__subcmd__pki_commands" \
"*::: :->pki" \
&& ret=0

    case $state in
    (pki)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-help-pki-command-$line[1]:"
        case $line[1] in
            (init)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(issue)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(issue-client)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(install-links)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(bench)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__help__subcmd__bench_commands" \
"*::: :->bench" \
&& ret=0

    case $state in
    (bench)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-help-bench-command-$line[1]:"
        case $line[1] in
            (verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(canary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(write)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rows)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(idle)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(chaos)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(failover)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(upgrade)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(puppet)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(demo)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(node)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(adm)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__help__subcmd__adm_commands" \
"*::: :->adm" \
&& ret=0

    case $state in
    (adm)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-help-adm-command-$line[1]:"
        case $line[1] in
            (create-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(adopt-drbd)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(adopt)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(up)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(adjust)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(attach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(detach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(connect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disconnect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(primary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-current-uuid)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(secondary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(events2)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(role)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(cstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-con-int)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dump)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dump-xml)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-nop)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-mod-parms)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-resources)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-list-adjustable)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-list-config-file)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-dev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-ll-dev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-md-dev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-md-idx)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-ip)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sh-udev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check-resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(outdate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(peer-role)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hidden-commands)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(apply-al)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(repair-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(forget-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate-remote)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(pause-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disk-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(net-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resource-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(peer-device-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dump-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(get-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wipe-md)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(set-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(suspend-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(reopen)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(setup)
_arguments "${_arguments_options[@]}" : \
":: :_basalt__subcmd__help__subcmd__setup_commands" \
"*::: :->setup" \
&& ret=0

    case $state in
    (setup)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:basalt-help-setup-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(events2)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(role)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(cstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(dstate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(down)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(primary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(secondary)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(connect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disconnect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(detach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(suspend-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-io)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-current-uuid)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(invalidate-remote)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(outdate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(get-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show-gi)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check-resize)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(pause-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resume-sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(udev)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(forget-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rename-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-minor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-peer)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(del-path)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(attach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(resource-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(disk-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(net-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(peer-device-options)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect-connection)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-connect-volume)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync-resource)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync-connection)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-sync-volume)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_basalt_commands] )) ||
_basalt_commands() {
    local commands; commands=(
'explain:Say in words why a resource is as it is, what it waits for, and what to do' \
'top:Watch the volumes of this node in a terminal' \
'device:Remove block devices whose daemon is gone' \
'pki:Make the certificates with which nodes and clients prove who they are' \
'install-links:Make links to this program under the names \`drbdadm\` and \`drbdsetup\`' \
'bench:Load and check volumes; by itself, measure a matrix of loads on volumes of several nodes' \
'demo:Watch a three-node volume survive the loss of its nodes' \
'node:Runs the daemon of this machine\: it keeps the resources that were brought up with \`basalt adm up\`, and serves their volumes over NBD and NVMe/TCP' \
'adm:Administers replicated volumes\: drbdadm'\''s verbs, asked of the node daemon' \
'setup:The part of drbdsetup that scripts use, asked of the node daemon' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm_commands] )) ||
_basalt__subcmd__adm_commands() {
    local commands; commands=(
'create-md:Write fresh metadata on the backing disks of this node' \
'adopt-drbd:Take the replicas of this node over from DRBD 9 or 8.4, where they lie, or give them back' \
'adopt:Take a resource into use again whose nodes lost their state directories, by its disks' \
'up:Configure, attach and connect' \
'down:Disconnect, detach and forget' \
'adjust:Make the running state follow the configuration file' \
'adjust-with-progress:Make the running state follow the configuration file' \
'attach:Take the backing disk into use' \
'detach:Go on without the backing disk' \
'connect:Connect to the peers, or to the one of RES\:PEER' \
'disconnect:Part from the peers, or from the one of RES\:PEER' \
'primary:Take the right to write' \
'new-current-uuid:Start a volume whose replicas are known to be equal, without a first copy' \
'secondary:Give the right to write away' \
'status:Show roles, disks, connections and what is wrong with them' \
'explain:Say in words why it is as it is, what it waits for, and what to do' \
'report:Gather what somebody who is to help needs, without secrets, in a new folder' \
'events2:Tell the state, and then every change of it, a line each' \
'role:Show the role of this node, one line per resource' \
'cstate:Show the state of the connections, one line each' \
'dstate:Show the state of the disks, local/peers, one line per volume' \
'wait-connect:Wait until all peers, or the one of RES\:PEER, are connected' \
'wait-con-int:Wait until all peers of all resources are connected' \
'wait-sync:Wait until nothing is being copied any more' \
'dump:Print the configuration as it was understood' \
'dump-xml:Print the configuration as XML' \
'sh-nop:Read the configuration and do nothing' \
'sh-mod-parms:Print the parameters that a kernel module would get' \
'sh-resources:Print the names of the resources of this node' \
'sh-list-adjustable:Print the names of the resources that \`adjust\` takes' \
'sh-list-config-file:Print the path of the configuration file' \
'sh-resource:Print the name of the resource' \
'sh-dev:Print the device names' \
'sh-minor:Print the minors' \
'sh-ll-dev:Print the backing disks' \
'sh-md-dev:Print where the metadata is' \
'sh-md-idx:Print the kind of the metadata\: \`internal\`, \`flexible\` or an index' \
'sh-ip:Print the own address of each path' \
'sh-udev:Print the names for udev' \
'new-resource:Configure, and neither attach nor connect\: \`adjust\`, or \`attach\` and \`connect\`, do that' \
'new-minor:See that the volumes are there, which came with the resource' \
'new-peer:See that the peers are there, which came with the resource' \
'new-path:See that the paths to the peers are there, which came with the resource' \
'del-peer:Part from the peers; they stay members until the configuration drops them' \
'del-path:Refused\: a path goes when the configuration drops it' \
'del-minor:Refused\: volumes go with their resource' \
'check-resize:Look whether the disks are as the resource knows them; one that grew is taken by \`resize\`' \
'outdate:Say whether this node'\''s data counts as outdated; others know it without being told' \
'peer-role:Show the roles of the peers, one line each' \
'hidden-commands:Print the verbs that \`--help\` leaves out' \
'apply-al:Nothing to do\: \`attach\` and \`up\` apply the activity log themselves' \
'repair-md:Nothing to do\: \`attach\` and \`up\` take the newer of the two copies of the metadata' \
'forget-peer:See that a former peer has no bitmap any more\: \`adjust\` frees it' \
'invalidate-remote:Refused\: the peer'\''s data is given up by \`invalidate\` there' \
'pause-sync:Refused\: a resync is bounded by \`c-max-rate\`, not paused' \
'resume-sync:Nothing to do\: nothing pauses a resync' \
'disk-options:Take changed options of disks over from the configuration, and nothing else' \
'net-options:Take changed options of connections over from the configuration, and nothing else' \
'resource-options:Take changed options of the resource over from the configuration, and nothing else' \
'peer-device-options:Take changed options of resyncs over from the configuration, and nothing else' \
'dump-md:Show what the metadata on the disks of this node says' \
'dump-superblock:Show what the metadata on the disks of this node says' \
'get-gi:Show the generation of the data, a line for each peer\: BRANCH\:BITMAP\:JOINED\:0\:CONSISTENT\:UP-TO-DATE\:CLEAN' \
'show-gi:The same, in words' \
'wipe-md:Erase the metadata\: the data stays, and is no replica any more' \
'set-gi:Refused\: a generation is what a majority of the voters chose' \
'invalidate:Give up the local data and copy it all again from a peer' \
'verify:Compare the replicas while they are in use' \
'suspend-io:Finish the requests that are under way, and hold the next ones back' \
'resume-io:Let requests go on' \
'reopen:After acknowledged writes may have been lost\: let NBD clients in again' \
'resize:Make the volume larger while it is in use, up to what all its disks have room for' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt adm commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__adjust_commands] )) ||
_basalt__subcmd__adm__subcmd__adjust_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm adjust commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__adopt_commands] )) ||
_basalt__subcmd__adm__subcmd__adopt_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm adopt commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__adopt-drbd_commands] )) ||
_basalt__subcmd__adm__subcmd__adopt-drbd_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm adopt-drbd commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__apply-al_commands] )) ||
_basalt__subcmd__adm__subcmd__apply-al_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm apply-al commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__attach_commands] )) ||
_basalt__subcmd__adm__subcmd__attach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm attach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__check-resize_commands] )) ||
_basalt__subcmd__adm__subcmd__check-resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm check-resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__connect_commands] )) ||
_basalt__subcmd__adm__subcmd__connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__create-md_commands] )) ||
_basalt__subcmd__adm__subcmd__create-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm create-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__cstate_commands] )) ||
_basalt__subcmd__adm__subcmd__cstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm cstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__del-minor_commands] )) ||
_basalt__subcmd__adm__subcmd__del-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm del-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__del-path_commands] )) ||
_basalt__subcmd__adm__subcmd__del-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm del-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__del-peer_commands] )) ||
_basalt__subcmd__adm__subcmd__del-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm del-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__detach_commands] )) ||
_basalt__subcmd__adm__subcmd__detach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm detach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__disconnect_commands] )) ||
_basalt__subcmd__adm__subcmd__disconnect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm disconnect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__disk-options_commands] )) ||
_basalt__subcmd__adm__subcmd__disk-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm disk-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__down_commands] )) ||
_basalt__subcmd__adm__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm down commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__dstate_commands] )) ||
_basalt__subcmd__adm__subcmd__dstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm dstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__dump_commands] )) ||
_basalt__subcmd__adm__subcmd__dump_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm dump commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__dump-md_commands] )) ||
_basalt__subcmd__adm__subcmd__dump-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm dump-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__dump-xml_commands] )) ||
_basalt__subcmd__adm__subcmd__dump-xml_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm dump-xml commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__events2_commands] )) ||
_basalt__subcmd__adm__subcmd__events2_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm events2 commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__explain_commands] )) ||
_basalt__subcmd__adm__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm explain commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__forget-peer_commands] )) ||
_basalt__subcmd__adm__subcmd__forget-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm forget-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__get-gi_commands] )) ||
_basalt__subcmd__adm__subcmd__get-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm get-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help_commands] )) ||
_basalt__subcmd__adm__subcmd__help_commands() {
    local commands; commands=(
'create-md:Write fresh metadata on the backing disks of this node' \
'adopt-drbd:Take the replicas of this node over from DRBD 9 or 8.4, where they lie, or give them back' \
'adopt:Take a resource into use again whose nodes lost their state directories, by its disks' \
'up:Configure, attach and connect' \
'down:Disconnect, detach and forget' \
'adjust:Make the running state follow the configuration file' \
'attach:Take the backing disk into use' \
'detach:Go on without the backing disk' \
'connect:Connect to the peers, or to the one of RES\:PEER' \
'disconnect:Part from the peers, or from the one of RES\:PEER' \
'primary:Take the right to write' \
'new-current-uuid:Start a volume whose replicas are known to be equal, without a first copy' \
'secondary:Give the right to write away' \
'status:Show roles, disks, connections and what is wrong with them' \
'explain:Say in words why it is as it is, what it waits for, and what to do' \
'report:Gather what somebody who is to help needs, without secrets, in a new folder' \
'events2:Tell the state, and then every change of it, a line each' \
'role:Show the role of this node, one line per resource' \
'cstate:Show the state of the connections, one line each' \
'dstate:Show the state of the disks, local/peers, one line per volume' \
'wait-connect:Wait until all peers, or the one of RES\:PEER, are connected' \
'wait-con-int:Wait until all peers of all resources are connected' \
'wait-sync:Wait until nothing is being copied any more' \
'dump:Print the configuration as it was understood' \
'dump-xml:Print the configuration as XML' \
'sh-nop:Read the configuration and do nothing' \
'sh-mod-parms:Print the parameters that a kernel module would get' \
'sh-resources:Print the names of the resources of this node' \
'sh-list-adjustable:Print the names of the resources that \`adjust\` takes' \
'sh-list-config-file:Print the path of the configuration file' \
'sh-resource:Print the name of the resource' \
'sh-dev:Print the device names' \
'sh-minor:Print the minors' \
'sh-ll-dev:Print the backing disks' \
'sh-md-dev:Print where the metadata is' \
'sh-md-idx:Print the kind of the metadata\: \`internal\`, \`flexible\` or an index' \
'sh-ip:Print the own address of each path' \
'sh-udev:Print the names for udev' \
'new-resource:Configure, and neither attach nor connect\: \`adjust\`, or \`attach\` and \`connect\`, do that' \
'new-minor:See that the volumes are there, which came with the resource' \
'new-peer:See that the peers are there, which came with the resource' \
'new-path:See that the paths to the peers are there, which came with the resource' \
'del-peer:Part from the peers; they stay members until the configuration drops them' \
'del-path:Refused\: a path goes when the configuration drops it' \
'del-minor:Refused\: volumes go with their resource' \
'check-resize:Look whether the disks are as the resource knows them; one that grew is taken by \`resize\`' \
'outdate:Say whether this node'\''s data counts as outdated; others know it without being told' \
'peer-role:Show the roles of the peers, one line each' \
'hidden-commands:Print the verbs that \`--help\` leaves out' \
'apply-al:Nothing to do\: \`attach\` and \`up\` apply the activity log themselves' \
'repair-md:Nothing to do\: \`attach\` and \`up\` take the newer of the two copies of the metadata' \
'forget-peer:See that a former peer has no bitmap any more\: \`adjust\` frees it' \
'invalidate-remote:Refused\: the peer'\''s data is given up by \`invalidate\` there' \
'pause-sync:Refused\: a resync is bounded by \`c-max-rate\`, not paused' \
'resume-sync:Nothing to do\: nothing pauses a resync' \
'disk-options:Take changed options of disks over from the configuration, and nothing else' \
'net-options:Take changed options of connections over from the configuration, and nothing else' \
'resource-options:Take changed options of the resource over from the configuration, and nothing else' \
'peer-device-options:Take changed options of resyncs over from the configuration, and nothing else' \
'dump-md:Show what the metadata on the disks of this node says' \
'get-gi:Show the generation of the data, a line for each peer\: BRANCH\:BITMAP\:JOINED\:0\:CONSISTENT\:UP-TO-DATE\:CLEAN' \
'show-gi:The same, in words' \
'wipe-md:Erase the metadata\: the data stays, and is no replica any more' \
'set-gi:Refused\: a generation is what a majority of the voters chose' \
'invalidate:Give up the local data and copy it all again from a peer' \
'verify:Compare the replicas while they are in use' \
'suspend-io:Finish the requests that are under way, and hold the next ones back' \
'resume-io:Let requests go on' \
'reopen:After acknowledged writes may have been lost\: let NBD clients in again' \
'resize:Make the volume larger while it is in use, up to what all its disks have room for' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt adm help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__adjust_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__adjust_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help adjust commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__adopt_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__adopt_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help adopt commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__adopt-drbd_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__adopt-drbd_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help adopt-drbd commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__apply-al_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__apply-al_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help apply-al commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__attach_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__attach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help attach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__check-resize_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__check-resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help check-resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__connect_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__create-md_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__create-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help create-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__cstate_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__cstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help cstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__del-minor_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__del-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help del-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__del-path_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__del-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help del-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__del-peer_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__del-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help del-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__detach_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__detach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help detach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__disconnect_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__disconnect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help disconnect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__disk-options_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__disk-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help disk-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__down_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help down commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__dstate_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__dstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help dstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__dump_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__dump_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help dump commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__dump-md_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__dump-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help dump-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__dump-xml_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__dump-xml_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help dump-xml commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__events2_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__events2_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help events2 commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__explain_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help explain commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__forget-peer_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__forget-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help forget-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__get-gi_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__get-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help get-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__help_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__hidden-commands_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__hidden-commands_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help hidden-commands commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__invalidate_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__invalidate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help invalidate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__invalidate-remote_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__invalidate-remote_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help invalidate-remote commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__net-options_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__net-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help net-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__new-current-uuid_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__new-current-uuid_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help new-current-uuid commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__new-minor_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__new-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help new-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__new-path_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__new-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help new-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__new-peer_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__new-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help new-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__new-resource_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__new-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help new-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__outdate_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__outdate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help outdate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__pause-sync_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__pause-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help pause-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__peer-device-options_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__peer-device-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help peer-device-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__peer-role_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__peer-role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help peer-role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__primary_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__primary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help primary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__reopen_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__reopen_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help reopen commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__repair-md_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__repair-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help repair-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__report_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help report commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__resize_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__resource-options_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__resource-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help resource-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__resume-io_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__resume-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help resume-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__resume-sync_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__resume-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help resume-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__role_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__secondary_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__secondary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help secondary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__set-gi_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__set-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help set-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-dev_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-ip_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-ip_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-ip commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-list-adjustable_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-list-adjustable_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-list-adjustable commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-list-config-file_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-list-config-file_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-list-config-file commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-ll-dev_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-ll-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-ll-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-md-dev_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-md-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-md-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-md-idx_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-md-idx_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-md-idx commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-minor_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-mod-parms_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-mod-parms_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-mod-parms commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-nop_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-nop_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-nop commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-resource_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-resources_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-resources_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-resources commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__sh-udev_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__sh-udev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help sh-udev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__show-gi_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__show-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help show-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__status_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help status commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__suspend-io_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__suspend-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help suspend-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__up_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help up commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__verify_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__wait-con-int_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__wait-con-int_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help wait-con-int commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__wait-connect_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__wait-connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help wait-connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__wait-sync_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__wait-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help wait-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__help__subcmd__wipe-md_commands] )) ||
_basalt__subcmd__adm__subcmd__help__subcmd__wipe-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm help wipe-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__hidden-commands_commands] )) ||
_basalt__subcmd__adm__subcmd__hidden-commands_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm hidden-commands commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__invalidate_commands] )) ||
_basalt__subcmd__adm__subcmd__invalidate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm invalidate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__invalidate-remote_commands] )) ||
_basalt__subcmd__adm__subcmd__invalidate-remote_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm invalidate-remote commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__net-options_commands] )) ||
_basalt__subcmd__adm__subcmd__net-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm net-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__new-current-uuid_commands] )) ||
_basalt__subcmd__adm__subcmd__new-current-uuid_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm new-current-uuid commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__new-minor_commands] )) ||
_basalt__subcmd__adm__subcmd__new-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm new-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__new-path_commands] )) ||
_basalt__subcmd__adm__subcmd__new-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm new-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__new-peer_commands] )) ||
_basalt__subcmd__adm__subcmd__new-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm new-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__new-resource_commands] )) ||
_basalt__subcmd__adm__subcmd__new-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm new-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__outdate_commands] )) ||
_basalt__subcmd__adm__subcmd__outdate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm outdate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__pause-sync_commands] )) ||
_basalt__subcmd__adm__subcmd__pause-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm pause-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__peer-device-options_commands] )) ||
_basalt__subcmd__adm__subcmd__peer-device-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm peer-device-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__peer-role_commands] )) ||
_basalt__subcmd__adm__subcmd__peer-role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm peer-role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__primary_commands] )) ||
_basalt__subcmd__adm__subcmd__primary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm primary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__reopen_commands] )) ||
_basalt__subcmd__adm__subcmd__reopen_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm reopen commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__repair-md_commands] )) ||
_basalt__subcmd__adm__subcmd__repair-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm repair-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__report_commands] )) ||
_basalt__subcmd__adm__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm report commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__resize_commands] )) ||
_basalt__subcmd__adm__subcmd__resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__resource-options_commands] )) ||
_basalt__subcmd__adm__subcmd__resource-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm resource-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__resume-io_commands] )) ||
_basalt__subcmd__adm__subcmd__resume-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm resume-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__resume-sync_commands] )) ||
_basalt__subcmd__adm__subcmd__resume-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm resume-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__role_commands] )) ||
_basalt__subcmd__adm__subcmd__role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__secondary_commands] )) ||
_basalt__subcmd__adm__subcmd__secondary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm secondary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__set-gi_commands] )) ||
_basalt__subcmd__adm__subcmd__set-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm set-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-dev_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-ip_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-ip_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-ip commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-list-adjustable_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-list-adjustable_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-list-adjustable commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-list-config-file_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-list-config-file_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-list-config-file commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-ll-dev_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-ll-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-ll-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-md-dev_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-md-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-md-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-md-idx_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-md-idx_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-md-idx commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-minor_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-mod-parms_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-mod-parms_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-mod-parms commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-nop_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-nop_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-nop commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-resource_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-resources_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-resources_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-resources commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__sh-udev_commands] )) ||
_basalt__subcmd__adm__subcmd__sh-udev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm sh-udev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__show-gi_commands] )) ||
_basalt__subcmd__adm__subcmd__show-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm show-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__status_commands] )) ||
_basalt__subcmd__adm__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm status commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__suspend-io_commands] )) ||
_basalt__subcmd__adm__subcmd__suspend-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm suspend-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__up_commands] )) ||
_basalt__subcmd__adm__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm up commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__verify_commands] )) ||
_basalt__subcmd__adm__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__wait-con-int_commands] )) ||
_basalt__subcmd__adm__subcmd__wait-con-int_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm wait-con-int commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__wait-connect_commands] )) ||
_basalt__subcmd__adm__subcmd__wait-connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm wait-connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__wait-sync_commands] )) ||
_basalt__subcmd__adm__subcmd__wait-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm wait-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__adm__subcmd__wipe-md_commands] )) ||
_basalt__subcmd__adm__subcmd__wipe-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt adm wipe-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench_commands] )) ||
_basalt__subcmd__bench_commands() {
    local commands; commands=(
'verify:Load a volume over NBD and check every answer' \
'canary:Check the checker against servers with one flaw each' \
'write:Measure what a replicated write costs, beside two other systems' \
'rows:Measure each goal for speed and cost beside what it is compared with' \
'idle:Measure memory, CPU and start of nodes that have volumes and nothing to do' \
'resync:Measure what the return of a node costs its clients, and how long it takes' \
'chaos:Strike nodes and the network between them, under the checker'\''s load' \
'failover:Measure how long a volume stands still when nodes die, vanish or stand still' \
'upgrade:Upgrade and downgrade nodes one by one beside another version, under the checker'\''s load' \
'puppet:Start three nodes, then kill and restart them as standard input says' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt bench commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__canary_commands] )) ||
_basalt__subcmd__bench__subcmd__canary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench canary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__chaos_commands] )) ||
_basalt__subcmd__bench__subcmd__chaos_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench chaos commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__failover_commands] )) ||
_basalt__subcmd__bench__subcmd__failover_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench failover commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help_commands] )) ||
_basalt__subcmd__bench__subcmd__help_commands() {
    local commands; commands=(
'verify:Load a volume over NBD and check every answer' \
'canary:Check the checker against servers with one flaw each' \
'write:Measure what a replicated write costs, beside two other systems' \
'rows:Measure each goal for speed and cost beside what it is compared with' \
'idle:Measure memory, CPU and start of nodes that have volumes and nothing to do' \
'resync:Measure what the return of a node costs its clients, and how long it takes' \
'chaos:Strike nodes and the network between them, under the checker'\''s load' \
'failover:Measure how long a volume stands still when nodes die, vanish or stand still' \
'upgrade:Upgrade and downgrade nodes one by one beside another version, under the checker'\''s load' \
'puppet:Start three nodes, then kill and restart them as standard input says' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt bench help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__canary_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__canary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help canary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__chaos_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__chaos_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help chaos commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__failover_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__failover_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help failover commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__help_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__idle_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__idle_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help idle commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__puppet_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__puppet_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help puppet commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__resync_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__resync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help resync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__rows_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__rows_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help rows commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__upgrade_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__upgrade_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help upgrade commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__verify_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__help__subcmd__write_commands] )) ||
_basalt__subcmd__bench__subcmd__help__subcmd__write_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench help write commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__idle_commands] )) ||
_basalt__subcmd__bench__subcmd__idle_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench idle commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__puppet_commands] )) ||
_basalt__subcmd__bench__subcmd__puppet_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench puppet commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__resync_commands] )) ||
_basalt__subcmd__bench__subcmd__resync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench resync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__rows_commands] )) ||
_basalt__subcmd__bench__subcmd__rows_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench rows commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__upgrade_commands] )) ||
_basalt__subcmd__bench__subcmd__upgrade_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench upgrade commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__verify_commands] )) ||
_basalt__subcmd__bench__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__bench__subcmd__write_commands] )) ||
_basalt__subcmd__bench__subcmd__write_commands() {
    local commands; commands=()
    _describe -t commands 'basalt bench write commands' commands "$@"
}
(( $+functions[_basalt__subcmd__demo_commands] )) ||
_basalt__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'basalt demo commands' commands "$@"
}
(( $+functions[_basalt__subcmd__device_commands] )) ||
_basalt__subcmd__device_commands() {
    local commands; commands=(
'remove:Remove block devices whose daemon is gone\: their users get errors, and need not wait for another daemon' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt device commands' commands "$@"
}
(( $+functions[_basalt__subcmd__device__subcmd__help_commands] )) ||
_basalt__subcmd__device__subcmd__help_commands() {
    local commands; commands=(
'remove:Remove block devices whose daemon is gone\: their users get errors, and need not wait for another daemon' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt device help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__device__subcmd__help__subcmd__help_commands] )) ||
_basalt__subcmd__device__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'basalt device help help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__device__subcmd__help__subcmd__remove_commands] )) ||
_basalt__subcmd__device__subcmd__help__subcmd__remove_commands() {
    local commands; commands=()
    _describe -t commands 'basalt device help remove commands' commands "$@"
}
(( $+functions[_basalt__subcmd__device__subcmd__remove_commands] )) ||
_basalt__subcmd__device__subcmd__remove_commands() {
    local commands; commands=()
    _describe -t commands 'basalt device remove commands' commands "$@"
}
(( $+functions[_basalt__subcmd__explain_commands] )) ||
_basalt__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'basalt explain commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help_commands] )) ||
_basalt__subcmd__help_commands() {
    local commands; commands=(
'explain:Say in words why a resource is as it is, what it waits for, and what to do' \
'top:Watch the volumes of this node in a terminal' \
'device:Remove block devices whose daemon is gone' \
'pki:Make the certificates with which nodes and clients prove who they are' \
'install-links:Make links to this program under the names \`drbdadm\` and \`drbdsetup\`' \
'bench:Load and check volumes; by itself, measure a matrix of loads on volumes of several nodes' \
'demo:Watch a three-node volume survive the loss of its nodes' \
'node:Runs the daemon of this machine\: it keeps the resources that were brought up with \`basalt adm up\`, and serves their volumes over NBD and NVMe/TCP' \
'adm:Administers replicated volumes\: drbdadm'\''s verbs, asked of the node daemon' \
'setup:The part of drbdsetup that scripts use, asked of the node daemon' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm_commands] )) ||
_basalt__subcmd__help__subcmd__adm_commands() {
    local commands; commands=(
'create-md:Write fresh metadata on the backing disks of this node' \
'adopt-drbd:Take the replicas of this node over from DRBD 9 or 8.4, where they lie, or give them back' \
'adopt:Take a resource into use again whose nodes lost their state directories, by its disks' \
'up:Configure, attach and connect' \
'down:Disconnect, detach and forget' \
'adjust:Make the running state follow the configuration file' \
'attach:Take the backing disk into use' \
'detach:Go on without the backing disk' \
'connect:Connect to the peers, or to the one of RES\:PEER' \
'disconnect:Part from the peers, or from the one of RES\:PEER' \
'primary:Take the right to write' \
'new-current-uuid:Start a volume whose replicas are known to be equal, without a first copy' \
'secondary:Give the right to write away' \
'status:Show roles, disks, connections and what is wrong with them' \
'explain:Say in words why it is as it is, what it waits for, and what to do' \
'report:Gather what somebody who is to help needs, without secrets, in a new folder' \
'events2:Tell the state, and then every change of it, a line each' \
'role:Show the role of this node, one line per resource' \
'cstate:Show the state of the connections, one line each' \
'dstate:Show the state of the disks, local/peers, one line per volume' \
'wait-connect:Wait until all peers, or the one of RES\:PEER, are connected' \
'wait-con-int:Wait until all peers of all resources are connected' \
'wait-sync:Wait until nothing is being copied any more' \
'dump:Print the configuration as it was understood' \
'dump-xml:Print the configuration as XML' \
'sh-nop:Read the configuration and do nothing' \
'sh-mod-parms:Print the parameters that a kernel module would get' \
'sh-resources:Print the names of the resources of this node' \
'sh-list-adjustable:Print the names of the resources that \`adjust\` takes' \
'sh-list-config-file:Print the path of the configuration file' \
'sh-resource:Print the name of the resource' \
'sh-dev:Print the device names' \
'sh-minor:Print the minors' \
'sh-ll-dev:Print the backing disks' \
'sh-md-dev:Print where the metadata is' \
'sh-md-idx:Print the kind of the metadata\: \`internal\`, \`flexible\` or an index' \
'sh-ip:Print the own address of each path' \
'sh-udev:Print the names for udev' \
'new-resource:Configure, and neither attach nor connect\: \`adjust\`, or \`attach\` and \`connect\`, do that' \
'new-minor:See that the volumes are there, which came with the resource' \
'new-peer:See that the peers are there, which came with the resource' \
'new-path:See that the paths to the peers are there, which came with the resource' \
'del-peer:Part from the peers; they stay members until the configuration drops them' \
'del-path:Refused\: a path goes when the configuration drops it' \
'del-minor:Refused\: volumes go with their resource' \
'check-resize:Look whether the disks are as the resource knows them; one that grew is taken by \`resize\`' \
'outdate:Say whether this node'\''s data counts as outdated; others know it without being told' \
'peer-role:Show the roles of the peers, one line each' \
'hidden-commands:Print the verbs that \`--help\` leaves out' \
'apply-al:Nothing to do\: \`attach\` and \`up\` apply the activity log themselves' \
'repair-md:Nothing to do\: \`attach\` and \`up\` take the newer of the two copies of the metadata' \
'forget-peer:See that a former peer has no bitmap any more\: \`adjust\` frees it' \
'invalidate-remote:Refused\: the peer'\''s data is given up by \`invalidate\` there' \
'pause-sync:Refused\: a resync is bounded by \`c-max-rate\`, not paused' \
'resume-sync:Nothing to do\: nothing pauses a resync' \
'disk-options:Take changed options of disks over from the configuration, and nothing else' \
'net-options:Take changed options of connections over from the configuration, and nothing else' \
'resource-options:Take changed options of the resource over from the configuration, and nothing else' \
'peer-device-options:Take changed options of resyncs over from the configuration, and nothing else' \
'dump-md:Show what the metadata on the disks of this node says' \
'get-gi:Show the generation of the data, a line for each peer\: BRANCH\:BITMAP\:JOINED\:0\:CONSISTENT\:UP-TO-DATE\:CLEAN' \
'show-gi:The same, in words' \
'wipe-md:Erase the metadata\: the data stays, and is no replica any more' \
'set-gi:Refused\: a generation is what a majority of the voters chose' \
'invalidate:Give up the local data and copy it all again from a peer' \
'verify:Compare the replicas while they are in use' \
'suspend-io:Finish the requests that are under way, and hold the next ones back' \
'resume-io:Let requests go on' \
'reopen:After acknowledged writes may have been lost\: let NBD clients in again' \
'resize:Make the volume larger while it is in use, up to what all its disks have room for' \
    )
    _describe -t commands 'basalt help adm commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__adjust_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__adjust_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm adjust commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__adopt_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__adopt_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm adopt commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__adopt-drbd_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__adopt-drbd_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm adopt-drbd commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__apply-al_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__apply-al_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm apply-al commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__attach_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__attach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm attach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__check-resize_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__check-resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm check-resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__connect_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__create-md_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__create-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm create-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__cstate_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__cstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm cstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__del-minor_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__del-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm del-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__del-path_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__del-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm del-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__del-peer_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__del-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm del-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__detach_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__detach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm detach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__disconnect_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__disconnect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm disconnect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__disk-options_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__disk-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm disk-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__down_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm down commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__dstate_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__dstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm dstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__dump_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__dump_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm dump commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__dump-md_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__dump-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm dump-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__dump-xml_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__dump-xml_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm dump-xml commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__events2_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__events2_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm events2 commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__explain_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm explain commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__forget-peer_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__forget-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm forget-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__get-gi_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__get-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm get-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__hidden-commands_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__hidden-commands_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm hidden-commands commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__invalidate_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__invalidate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm invalidate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__invalidate-remote_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__invalidate-remote_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm invalidate-remote commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__net-options_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__net-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm net-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__new-current-uuid_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__new-current-uuid_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm new-current-uuid commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__new-minor_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__new-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm new-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__new-path_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__new-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm new-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__new-peer_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__new-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm new-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__new-resource_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__new-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm new-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__outdate_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__outdate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm outdate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__pause-sync_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__pause-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm pause-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__peer-device-options_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__peer-device-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm peer-device-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__peer-role_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__peer-role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm peer-role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__primary_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__primary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm primary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__reopen_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__reopen_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm reopen commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__repair-md_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__repair-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm repair-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__report_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm report commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__resize_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__resource-options_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__resource-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm resource-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__resume-io_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__resume-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm resume-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__resume-sync_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__resume-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm resume-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__role_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__secondary_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__secondary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm secondary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__set-gi_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__set-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm set-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-dev_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-ip_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-ip_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-ip commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-list-adjustable_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-list-adjustable_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-list-adjustable commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-list-config-file_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-list-config-file_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-list-config-file commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-ll-dev_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-ll-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-ll-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-md-dev_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-md-dev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-md-dev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-md-idx_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-md-idx_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-md-idx commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-minor_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-mod-parms_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-mod-parms_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-mod-parms commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-nop_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-nop_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-nop commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-resource_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-resources_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-resources_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-resources commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__sh-udev_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__sh-udev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm sh-udev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__show-gi_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__show-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm show-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__status_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm status commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__suspend-io_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__suspend-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm suspend-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__up_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__up_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm up commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__verify_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__wait-con-int_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__wait-con-int_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm wait-con-int commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__wait-connect_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__wait-connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm wait-connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__wait-sync_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__wait-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm wait-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__adm__subcmd__wipe-md_commands] )) ||
_basalt__subcmd__help__subcmd__adm__subcmd__wipe-md_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help adm wipe-md commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench_commands] )) ||
_basalt__subcmd__help__subcmd__bench_commands() {
    local commands; commands=(
'verify:Load a volume over NBD and check every answer' \
'canary:Check the checker against servers with one flaw each' \
'write:Measure what a replicated write costs, beside two other systems' \
'rows:Measure each goal for speed and cost beside what it is compared with' \
'idle:Measure memory, CPU and start of nodes that have volumes and nothing to do' \
'resync:Measure what the return of a node costs its clients, and how long it takes' \
'chaos:Strike nodes and the network between them, under the checker'\''s load' \
'failover:Measure how long a volume stands still when nodes die, vanish or stand still' \
'upgrade:Upgrade and downgrade nodes one by one beside another version, under the checker'\''s load' \
'puppet:Start three nodes, then kill and restart them as standard input says' \
    )
    _describe -t commands 'basalt help bench commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__canary_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__canary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench canary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__chaos_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__chaos_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench chaos commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__failover_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__failover_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench failover commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__idle_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__idle_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench idle commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__puppet_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__puppet_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench puppet commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__resync_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__resync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench resync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__rows_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__rows_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench rows commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__upgrade_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__upgrade_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench upgrade commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__verify_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__bench__subcmd__write_commands] )) ||
_basalt__subcmd__help__subcmd__bench__subcmd__write_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help bench write commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__demo_commands] )) ||
_basalt__subcmd__help__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help demo commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__device_commands] )) ||
_basalt__subcmd__help__subcmd__device_commands() {
    local commands; commands=(
'remove:Remove block devices whose daemon is gone\: their users get errors, and need not wait for another daemon' \
    )
    _describe -t commands 'basalt help device commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__device__subcmd__remove_commands] )) ||
_basalt__subcmd__help__subcmd__device__subcmd__remove_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help device remove commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__explain_commands] )) ||
_basalt__subcmd__help__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help explain commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__help_commands] )) ||
_basalt__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__install-links_commands] )) ||
_basalt__subcmd__help__subcmd__install-links_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help install-links commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__node_commands] )) ||
_basalt__subcmd__help__subcmd__node_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help node commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__pki_commands] )) ||
_basalt__subcmd__help__subcmd__pki_commands() {
    local commands; commands=(
'init:Make the CA of a new cluster, and a first configuration in which TLS is on' \
'issue:Make the certificate and key of a node' \
'issue-client:Make the certificate and key of an NBD client' \
    )
    _describe -t commands 'basalt help pki commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__pki__subcmd__init_commands] )) ||
_basalt__subcmd__help__subcmd__pki__subcmd__init_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help pki init commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__pki__subcmd__issue_commands] )) ||
_basalt__subcmd__help__subcmd__pki__subcmd__issue_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help pki issue commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__pki__subcmd__issue-client_commands] )) ||
_basalt__subcmd__help__subcmd__pki__subcmd__issue-client_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help pki issue-client commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup_commands] )) ||
_basalt__subcmd__help__subcmd__setup_commands() {
    local commands; commands=(
'status:Show roles, disks, connections and what is wrong with them' \
'events2:Tell the state, and then every change of it, a line each' \
'show:Show the configuration that runs' \
'role:Show the role of this node' \
'cstate:Show the state of the connection to a peer' \
'dstate:Show the state of the disks of a volume, local/peers' \
'down:Disconnect, detach and forget' \
'primary:Take the right to write' \
'secondary:Give the right to write away' \
'connect:Connect to a peer' \
'disconnect:Part from a peer' \
'detach:Go on without the backing disk' \
'resize:Make a volume larger while it is in use' \
'invalidate:Give up the local data and copy it all again from a peer' \
'suspend-io:Finish the requests that are under way, and hold the next ones back' \
'resume-io:Let requests go on' \
'new-current-uuid:Start a volume whose replicas are known to be equal, without a first copy' \
'invalidate-remote:Refused\: the peer'\''s data is given up by \`invalidate\` there' \
'outdate:Say whether this node'\''s data counts as outdated; others know it without being told' \
'verify:Compare the replicas of a volume while they are in use' \
'get-gi:Show the generation of the data\: BRANCH\:BITMAP\:JOINED\:0\:CONSISTENT\:UP-TO-DATE\:CLEAN' \
'show-gi:The same, in words' \
'check-resize:Look whether the disk is as the resource knows it' \
'pause-sync:Refused\: a resync is bounded by \`c-max-rate\`, not paused' \
'resume-sync:Nothing to do\: nothing pauses a resync' \
'udev:Print what udev makes the names of a volume of' \
'del-minor:Refused\: volumes go with their resource' \
'del-peer:Part from a peer; it stays a member until the configuration drops it' \
'forget-peer:See that a former peer has no bitmap any more' \
'del-resource:Forget a resource, with its volumes and peers' \
'rename-resource:Refused\: the name stands in the metadata of every replica' \
'new-resource:See that a resource is there; the configuration makes it' \
'new-minor:See that a volume is there, which came with the resource' \
'new-peer:See that a peer is there, which came with the resource' \
'new-path:See that a path to a peer is there, which came with the resource' \
'del-path:Refused\: a path goes when the configuration drops it' \
'attach:Take the backing disk of the configuration into use' \
'resource-options:Change options of a resource on this node, until the next adjust' \
'disk-options:Refused\: options come from the configuration' \
'net-options:Refused\: options come from the configuration' \
'peer-device-options:Refused\: options come from the configuration' \
'wait-connect-resource:Wait until all peers are connected' \
'wait-connect-connection:Wait until a peer is connected' \
'wait-connect-volume:Wait until a volume of a peer is seen' \
'wait-sync-resource:Wait until nothing is being copied any more' \
'wait-sync-connection:Wait until nothing is being copied to or from a peer any more' \
'wait-sync-volume:Wait until a volume is not being copied to or from a peer any more' \
    )
    _describe -t commands 'basalt help setup commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__attach_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__attach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup attach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__check-resize_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__check-resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup check-resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__connect_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__cstate_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__cstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup cstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__del-minor_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__del-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup del-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__del-path_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__del-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup del-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__del-peer_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__del-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup del-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__del-resource_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__del-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup del-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__detach_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__detach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup detach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__disconnect_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__disconnect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup disconnect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__disk-options_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__disk-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup disk-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__down_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup down commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__dstate_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__dstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup dstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__events2_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__events2_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup events2 commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__forget-peer_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__forget-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup forget-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__get-gi_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__get-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup get-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__invalidate_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__invalidate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup invalidate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__invalidate-remote_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__invalidate-remote_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup invalidate-remote commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__net-options_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__net-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup net-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__new-current-uuid_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__new-current-uuid_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup new-current-uuid commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__new-minor_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__new-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup new-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__new-path_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__new-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup new-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__new-peer_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__new-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup new-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__new-resource_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__new-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup new-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__outdate_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__outdate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup outdate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__pause-sync_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__pause-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup pause-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__peer-device-options_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__peer-device-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup peer-device-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__primary_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__primary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup primary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__rename-resource_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__rename-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup rename-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__resize_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__resource-options_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__resource-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup resource-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__resume-io_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__resume-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup resume-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__resume-sync_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__resume-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup resume-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__role_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__secondary_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__secondary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup secondary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__show_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup show commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__show-gi_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__show-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup show-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__status_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup status commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__suspend-io_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__suspend-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup suspend-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__udev_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__udev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup udev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__verify_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__wait-connect-connection_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__wait-connect-connection_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup wait-connect-connection commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__wait-connect-resource_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__wait-connect-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup wait-connect-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__wait-connect-volume_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__wait-connect-volume_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup wait-connect-volume commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__wait-sync-connection_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__wait-sync-connection_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup wait-sync-connection commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__wait-sync-resource_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__wait-sync-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup wait-sync-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__setup__subcmd__wait-sync-volume_commands] )) ||
_basalt__subcmd__help__subcmd__setup__subcmd__wait-sync-volume_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help setup wait-sync-volume commands' commands "$@"
}
(( $+functions[_basalt__subcmd__help__subcmd__top_commands] )) ||
_basalt__subcmd__help__subcmd__top_commands() {
    local commands; commands=()
    _describe -t commands 'basalt help top commands' commands "$@"
}
(( $+functions[_basalt__subcmd__install-links_commands] )) ||
_basalt__subcmd__install-links_commands() {
    local commands; commands=()
    _describe -t commands 'basalt install-links commands' commands "$@"
}
(( $+functions[_basalt__subcmd__node_commands] )) ||
_basalt__subcmd__node_commands() {
    local commands; commands=()
    _describe -t commands 'basalt node commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki_commands] )) ||
_basalt__subcmd__pki_commands() {
    local commands; commands=(
'init:Make the CA of a new cluster, and a first configuration in which TLS is on' \
'issue:Make the certificate and key of a node' \
'issue-client:Make the certificate and key of an NBD client' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt pki commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__help_commands] )) ||
_basalt__subcmd__pki__subcmd__help_commands() {
    local commands; commands=(
'init:Make the CA of a new cluster, and a first configuration in which TLS is on' \
'issue:Make the certificate and key of a node' \
'issue-client:Make the certificate and key of an NBD client' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt pki help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__help__subcmd__help_commands] )) ||
_basalt__subcmd__pki__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'basalt pki help help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__help__subcmd__init_commands] )) ||
_basalt__subcmd__pki__subcmd__help__subcmd__init_commands() {
    local commands; commands=()
    _describe -t commands 'basalt pki help init commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__help__subcmd__issue_commands] )) ||
_basalt__subcmd__pki__subcmd__help__subcmd__issue_commands() {
    local commands; commands=()
    _describe -t commands 'basalt pki help issue commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__help__subcmd__issue-client_commands] )) ||
_basalt__subcmd__pki__subcmd__help__subcmd__issue-client_commands() {
    local commands; commands=()
    _describe -t commands 'basalt pki help issue-client commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__init_commands] )) ||
_basalt__subcmd__pki__subcmd__init_commands() {
    local commands; commands=()
    _describe -t commands 'basalt pki init commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__issue_commands] )) ||
_basalt__subcmd__pki__subcmd__issue_commands() {
    local commands; commands=()
    _describe -t commands 'basalt pki issue commands' commands "$@"
}
(( $+functions[_basalt__subcmd__pki__subcmd__issue-client_commands] )) ||
_basalt__subcmd__pki__subcmd__issue-client_commands() {
    local commands; commands=()
    _describe -t commands 'basalt pki issue-client commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup_commands] )) ||
_basalt__subcmd__setup_commands() {
    local commands; commands=(
'status:Show roles, disks, connections and what is wrong with them' \
'events2:Tell the state, and then every change of it, a line each' \
'show:Show the configuration that runs' \
'role:Show the role of this node' \
'cstate:Show the state of the connection to a peer' \
'dstate:Show the state of the disks of a volume, local/peers' \
'down:Disconnect, detach and forget' \
'primary:Take the right to write' \
'secondary:Give the right to write away' \
'connect:Connect to a peer' \
'disconnect:Part from a peer' \
'detach:Go on without the backing disk' \
'resize:Make a volume larger while it is in use' \
'invalidate:Give up the local data and copy it all again from a peer' \
'suspend-io:Finish the requests that are under way, and hold the next ones back' \
'resume-io:Let requests go on' \
'new-current-uuid:Start a volume whose replicas are known to be equal, without a first copy' \
'invalidate-remote:Refused\: the peer'\''s data is given up by \`invalidate\` there' \
'outdate:Say whether this node'\''s data counts as outdated; others know it without being told' \
'verify:Compare the replicas of a volume while they are in use' \
'get-gi:Show the generation of the data\: BRANCH\:BITMAP\:JOINED\:0\:CONSISTENT\:UP-TO-DATE\:CLEAN' \
'show-gi:The same, in words' \
'check-resize:Look whether the disk is as the resource knows it' \
'pause-sync:Refused\: a resync is bounded by \`c-max-rate\`, not paused' \
'resume-sync:Nothing to do\: nothing pauses a resync' \
'udev:Print what udev makes the names of a volume of' \
'del-minor:Refused\: volumes go with their resource' \
'del-peer:Part from a peer; it stays a member until the configuration drops it' \
'forget-peer:See that a former peer has no bitmap any more' \
'del-resource:Forget a resource, with its volumes and peers' \
'rename-resource:Refused\: the name stands in the metadata of every replica' \
'new-resource:See that a resource is there; the configuration makes it' \
'new-minor:See that a volume is there, which came with the resource' \
'new-peer:See that a peer is there, which came with the resource' \
'new-path:See that a path to a peer is there, which came with the resource' \
'del-path:Refused\: a path goes when the configuration drops it' \
'attach:Take the backing disk of the configuration into use' \
'resource-options:Change options of a resource on this node, until the next adjust' \
'disk-options:Refused\: options come from the configuration' \
'net-options:Refused\: options come from the configuration' \
'peer-device-options:Refused\: options come from the configuration' \
'wait-connect-resource:Wait until all peers are connected' \
'wait-connect-connection:Wait until a peer is connected' \
'wait-connect-volume:Wait until a volume of a peer is seen' \
'wait-sync-resource:Wait until nothing is being copied any more' \
'wait-sync-connection:Wait until nothing is being copied to or from a peer any more' \
'wait-sync-volume:Wait until a volume is not being copied to or from a peer any more' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt setup commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__attach_commands] )) ||
_basalt__subcmd__setup__subcmd__attach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup attach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__check-resize_commands] )) ||
_basalt__subcmd__setup__subcmd__check-resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup check-resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__connect_commands] )) ||
_basalt__subcmd__setup__subcmd__connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__cstate_commands] )) ||
_basalt__subcmd__setup__subcmd__cstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup cstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__del-minor_commands] )) ||
_basalt__subcmd__setup__subcmd__del-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup del-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__del-path_commands] )) ||
_basalt__subcmd__setup__subcmd__del-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup del-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__del-peer_commands] )) ||
_basalt__subcmd__setup__subcmd__del-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup del-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__del-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__del-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup del-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__detach_commands] )) ||
_basalt__subcmd__setup__subcmd__detach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup detach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__disconnect_commands] )) ||
_basalt__subcmd__setup__subcmd__disconnect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup disconnect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__disk-options_commands] )) ||
_basalt__subcmd__setup__subcmd__disk-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup disk-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__down_commands] )) ||
_basalt__subcmd__setup__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup down commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__dstate_commands] )) ||
_basalt__subcmd__setup__subcmd__dstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup dstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__events2_commands] )) ||
_basalt__subcmd__setup__subcmd__events2_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup events2 commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__forget-peer_commands] )) ||
_basalt__subcmd__setup__subcmd__forget-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup forget-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__get-gi_commands] )) ||
_basalt__subcmd__setup__subcmd__get-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup get-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help_commands] )) ||
_basalt__subcmd__setup__subcmd__help_commands() {
    local commands; commands=(
'status:Show roles, disks, connections and what is wrong with them' \
'events2:Tell the state, and then every change of it, a line each' \
'show:Show the configuration that runs' \
'role:Show the role of this node' \
'cstate:Show the state of the connection to a peer' \
'dstate:Show the state of the disks of a volume, local/peers' \
'down:Disconnect, detach and forget' \
'primary:Take the right to write' \
'secondary:Give the right to write away' \
'connect:Connect to a peer' \
'disconnect:Part from a peer' \
'detach:Go on without the backing disk' \
'resize:Make a volume larger while it is in use' \
'invalidate:Give up the local data and copy it all again from a peer' \
'suspend-io:Finish the requests that are under way, and hold the next ones back' \
'resume-io:Let requests go on' \
'new-current-uuid:Start a volume whose replicas are known to be equal, without a first copy' \
'invalidate-remote:Refused\: the peer'\''s data is given up by \`invalidate\` there' \
'outdate:Say whether this node'\''s data counts as outdated; others know it without being told' \
'verify:Compare the replicas of a volume while they are in use' \
'get-gi:Show the generation of the data\: BRANCH\:BITMAP\:JOINED\:0\:CONSISTENT\:UP-TO-DATE\:CLEAN' \
'show-gi:The same, in words' \
'check-resize:Look whether the disk is as the resource knows it' \
'pause-sync:Refused\: a resync is bounded by \`c-max-rate\`, not paused' \
'resume-sync:Nothing to do\: nothing pauses a resync' \
'udev:Print what udev makes the names of a volume of' \
'del-minor:Refused\: volumes go with their resource' \
'del-peer:Part from a peer; it stays a member until the configuration drops it' \
'forget-peer:See that a former peer has no bitmap any more' \
'del-resource:Forget a resource, with its volumes and peers' \
'rename-resource:Refused\: the name stands in the metadata of every replica' \
'new-resource:See that a resource is there; the configuration makes it' \
'new-minor:See that a volume is there, which came with the resource' \
'new-peer:See that a peer is there, which came with the resource' \
'new-path:See that a path to a peer is there, which came with the resource' \
'del-path:Refused\: a path goes when the configuration drops it' \
'attach:Take the backing disk of the configuration into use' \
'resource-options:Change options of a resource on this node, until the next adjust' \
'disk-options:Refused\: options come from the configuration' \
'net-options:Refused\: options come from the configuration' \
'peer-device-options:Refused\: options come from the configuration' \
'wait-connect-resource:Wait until all peers are connected' \
'wait-connect-connection:Wait until a peer is connected' \
'wait-connect-volume:Wait until a volume of a peer is seen' \
'wait-sync-resource:Wait until nothing is being copied any more' \
'wait-sync-connection:Wait until nothing is being copied to or from a peer any more' \
'wait-sync-volume:Wait until a volume is not being copied to or from a peer any more' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'basalt setup help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__attach_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__attach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help attach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__check-resize_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__check-resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help check-resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__connect_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__connect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help connect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__cstate_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__cstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help cstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__del-minor_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__del-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help del-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__del-path_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__del-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help del-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__del-peer_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__del-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help del-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__del-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__del-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help del-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__detach_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__detach_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help detach commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__disconnect_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__disconnect_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help disconnect commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__disk-options_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__disk-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help disk-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__down_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__down_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help down commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__dstate_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__dstate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help dstate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__events2_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__events2_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help events2 commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__forget-peer_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__forget-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help forget-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__get-gi_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__get-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help get-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__help_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help help commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__invalidate_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__invalidate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help invalidate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__invalidate-remote_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__invalidate-remote_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help invalidate-remote commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__net-options_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__net-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help net-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__new-current-uuid_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__new-current-uuid_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help new-current-uuid commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__new-minor_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__new-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help new-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__new-path_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__new-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help new-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__new-peer_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__new-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help new-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__new-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__new-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help new-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__outdate_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__outdate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help outdate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__pause-sync_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__pause-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help pause-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__peer-device-options_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__peer-device-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help peer-device-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__primary_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__primary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help primary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__rename-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__rename-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help rename-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__resize_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__resource-options_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__resource-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help resource-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__resume-io_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__resume-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help resume-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__resume-sync_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__resume-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help resume-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__role_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__secondary_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__secondary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help secondary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__show_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help show commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__show-gi_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__show-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help show-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__status_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help status commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__suspend-io_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__suspend-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help suspend-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__udev_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__udev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help udev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__verify_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__wait-connect-connection_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__wait-connect-connection_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help wait-connect-connection commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__wait-connect-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__wait-connect-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help wait-connect-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__wait-connect-volume_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__wait-connect-volume_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help wait-connect-volume commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__wait-sync-connection_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__wait-sync-connection_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help wait-sync-connection commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__wait-sync-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__wait-sync-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help wait-sync-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__help__subcmd__wait-sync-volume_commands] )) ||
_basalt__subcmd__setup__subcmd__help__subcmd__wait-sync-volume_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup help wait-sync-volume commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__invalidate_commands] )) ||
_basalt__subcmd__setup__subcmd__invalidate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup invalidate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__invalidate-remote_commands] )) ||
_basalt__subcmd__setup__subcmd__invalidate-remote_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup invalidate-remote commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__net-options_commands] )) ||
_basalt__subcmd__setup__subcmd__net-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup net-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__new-current-uuid_commands] )) ||
_basalt__subcmd__setup__subcmd__new-current-uuid_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup new-current-uuid commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__new-minor_commands] )) ||
_basalt__subcmd__setup__subcmd__new-minor_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup new-minor commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__new-path_commands] )) ||
_basalt__subcmd__setup__subcmd__new-path_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup new-path commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__new-peer_commands] )) ||
_basalt__subcmd__setup__subcmd__new-peer_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup new-peer commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__new-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__new-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup new-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__outdate_commands] )) ||
_basalt__subcmd__setup__subcmd__outdate_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup outdate commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__pause-sync_commands] )) ||
_basalt__subcmd__setup__subcmd__pause-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup pause-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__peer-device-options_commands] )) ||
_basalt__subcmd__setup__subcmd__peer-device-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup peer-device-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__primary_commands] )) ||
_basalt__subcmd__setup__subcmd__primary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup primary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__rename-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__rename-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup rename-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__resize_commands] )) ||
_basalt__subcmd__setup__subcmd__resize_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup resize commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__resource-options_commands] )) ||
_basalt__subcmd__setup__subcmd__resource-options_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup resource-options commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__resume-io_commands] )) ||
_basalt__subcmd__setup__subcmd__resume-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup resume-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__resume-sync_commands] )) ||
_basalt__subcmd__setup__subcmd__resume-sync_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup resume-sync commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__role_commands] )) ||
_basalt__subcmd__setup__subcmd__role_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup role commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__secondary_commands] )) ||
_basalt__subcmd__setup__subcmd__secondary_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup secondary commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__show_commands] )) ||
_basalt__subcmd__setup__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup show commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__show-gi_commands] )) ||
_basalt__subcmd__setup__subcmd__show-gi_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup show-gi commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__status_commands] )) ||
_basalt__subcmd__setup__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup status commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__suspend-io_commands] )) ||
_basalt__subcmd__setup__subcmd__suspend-io_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup suspend-io commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__udev_commands] )) ||
_basalt__subcmd__setup__subcmd__udev_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup udev commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__verify_commands] )) ||
_basalt__subcmd__setup__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup verify commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__wait-connect-connection_commands] )) ||
_basalt__subcmd__setup__subcmd__wait-connect-connection_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup wait-connect-connection commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__wait-connect-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__wait-connect-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup wait-connect-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__wait-connect-volume_commands] )) ||
_basalt__subcmd__setup__subcmd__wait-connect-volume_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup wait-connect-volume commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__wait-sync-connection_commands] )) ||
_basalt__subcmd__setup__subcmd__wait-sync-connection_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup wait-sync-connection commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__wait-sync-resource_commands] )) ||
_basalt__subcmd__setup__subcmd__wait-sync-resource_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup wait-sync-resource commands' commands "$@"
}
(( $+functions[_basalt__subcmd__setup__subcmd__wait-sync-volume_commands] )) ||
_basalt__subcmd__setup__subcmd__wait-sync-volume_commands() {
    local commands; commands=()
    _describe -t commands 'basalt setup wait-sync-volume commands' commands "$@"
}
(( $+functions[_basalt__subcmd__top_commands] )) ||
_basalt__subcmd__top_commands() {
    local commands; commands=()
    _describe -t commands 'basalt top commands' commands "$@"
}

if [ "$funcstack[1]" = "_basalt" ]; then
    _basalt "$@"
else
    compdef _basalt basalt
fi
