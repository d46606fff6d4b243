# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_basalt_global_optspecs
    string join \n h/help V/version
end

function __fish_basalt_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_basalt_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_basalt_using_subcommand
    set -l cmd (__fish_basalt_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c basalt -n "__fish_basalt_needs_command" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_needs_command" -s V -l version -d 'Print version'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "explain" -d 'Say in words why a resource is as it is, what it waits for, and what to do'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "top" -d 'Watch the volumes of this node in a terminal'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "device" -d 'Remove block devices whose daemon is gone'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "pki" -d 'Make the certificates with which nodes and clients prove who they are'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "install-links" -d 'Make links to this program under the names `drbdadm` and `drbdsetup`'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "manuals" -d 'Write man pages and completions of shells'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "bench" -d 'Load and check volumes; by itself, measure a matrix of loads on volumes of several nodes'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "demo" -d 'Watch a three-node volume survive the loss of its nodes'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "node" -d 'Runs the daemon of this machine: it keeps the resources that were brought up with `basalt adm up`, and serves their volumes over NBD and NVMe/TCP'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "adm" -d 'Administers replicated volumes: drbdadm\'s verbs, asked of the node daemon'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "setup" -d 'The part of drbdsetup that scripts use, asked of the node daemon'
complete -c basalt -n "__fish_basalt_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand top" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand top" -l interval -d 'Seconds from one look at the daemon to the next' -r
complete -c basalt -n "__fish_basalt_using_subcommand top" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand device; and not __fish_seen_subcommand_from remove supervise help" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand device; and not __fish_seen_subcommand_from remove supervise help" -f -a "remove" -d 'Remove block devices whose daemon is gone: their users get errors, and need not wait for another daemon'
complete -c basalt -n "__fish_basalt_using_subcommand device; and not __fish_seen_subcommand_from remove supervise help" -f -a "supervise" -d 'Watch over the device of a daemon'
complete -c basalt -n "__fish_basalt_using_subcommand device; and not __fish_seen_subcommand_from remove supervise help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from remove" -l force -d 'Remove one that a daemon serves, too'
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -l device -r
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -l mark -r
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -l resource -r
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -l volume -r
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -l server -r
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -l timeout -r
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -l lock -r -F
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from supervise" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove block devices whose daemon is gone: their users get errors, and need not wait for another daemon'
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "supervise" -d 'Watch over the device of a daemon'
complete -c basalt -n "__fish_basalt_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and not __fish_seen_subcommand_from init issue issue-client help" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and not __fish_seen_subcommand_from init issue issue-client help" -f -a "init" -d 'Make the CA of a new cluster, and a first configuration in which TLS is on'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and not __fish_seen_subcommand_from init issue issue-client help" -f -a "issue" -d 'Make the certificate and key of a node'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and not __fish_seen_subcommand_from init issue issue-client help" -f -a "issue-client" -d 'Make the certificate and key of an NBD client'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and not __fish_seen_subcommand_from init issue issue-client help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from init" -l dir -d 'Where the CA is to be kept; its key must not leave this folder' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from init" -l days -d 'How long its certificate is valid' -r
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from issue" -l dir -d 'Where the CA is' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from issue" -l days -d 'How long the certificate is valid' -r
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from issue" -l address -d 'A host name or address that NBD clients use for this node; may be given more than once' -r
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from issue" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from issue-client" -l dir -d 'Where the CA is' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from issue-client" -l days -d 'How long the certificate is valid' -r
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from issue-client" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from help" -f -a "init" -d 'Make the CA of a new cluster, and a first configuration in which TLS is on'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from help" -f -a "issue" -d 'Make the certificate and key of a node'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from help" -f -a "issue-client" -d 'Make the certificate and key of an NBD client'
complete -c basalt -n "__fish_basalt_using_subcommand pki; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand install-links" -l force -d 'Replace what is there under these names'
complete -c basalt -n "__fish_basalt_using_subcommand install-links" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand manuals" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l nodes -d 'Nodes with replicas; three of them are joined by as many without, which serve' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l volumes -d 'Volumes that each node serves, each with a load of its own' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l seconds -d 'Measured seconds of each load' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l warm-up -d 'Seconds of each load before it is measured' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l size-mib -d 'MiB of each volume, all of it written before anything is measured' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l place -d 'Where the files go; tmpfs measures the software, a file system on a disk the whole' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l hosts -d 'What a node is: by default a network namespace where there are more than three' -r -f -a "loopback\t'Each node has a loopback address of its own'
namespaces\t'Each node is in a network namespace of its own, which takes root'"
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l shards -d 'Threads that carry data in each daemon' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l peer -d 'What else runs the same loads, if it is installed here' -r -f -a "quorum\t'QEMU\'s quorum driver over three storage daemons, for each volume'
nbdkit\t'nbdkit\'s memory plugin for each volume: one copy, no network'"
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l out -d 'Where basalt-bench.json and basalt-bench.html go' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l short -d 'One volume per node of 32 MiB, a second per load: whether it works, not how fast'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "verify" -d 'Load a volume over NBD and check every answer'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "canary" -d 'Check the checker against servers with one flaw each'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "write" -d 'Measure what a replicated write costs, beside two other systems'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "rows" -d 'Measure each goal for speed and cost beside what it is compared with'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "idle" -d 'Measure memory, CPU and start of nodes that have volumes and nothing to do'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "resync" -d 'Measure what the return of a node costs its clients, and how long it takes'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "chaos" -d 'Strike nodes and the network between them, under the checker\'s load'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "failover" -d 'Measure how long a volume stands still when nodes die, vanish or stand still'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "puppet" -d 'Start three nodes, then kill and restart them as standard input says'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and not __fish_seen_subcommand_from verify canary write rows idle resync chaos failover puppet help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l nbd -d 'Exports of one volume, comma separated; the checker moves on when one fails' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l seconds -d 'How long to load the volume' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l kill-schedule -d 'Start three nodes, and kill and restart them as this seed says, instead of --nbd' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l kills -d 'How many rounds of killing' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l victims -d 'Whom to kill, each equally often' -r -f -a "primary\t'The node that serves'
secondary\t'One of the others'
sync-target\t'A secondary that has just come back and is being filled'
both-secondaries\t'Too few are left to go on, until one is back'
everyone\t'All at once'"
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l place -d 'Where the nodes\' files go, in a directory that is removed at the end' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l shards -d 'Threads that carry data, of the nodes in turn' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l span-mib -d 'MiB from the start of the volume that are written and read' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l connections -d 'Connections, where the server allows several' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l depth -d 'Requests in flight per connection' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l seed -d 'Seed of the mix of requests; random when left out' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l answer-limit -d 'Seconds that a request may take before its connection is given up' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l reconnect-limit -d 'Seconds without any server before the run has failed' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from canary" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from canary" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l depth -d 'Writes in flight, one run each' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l seconds -d 'Measured seconds of each run' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l repeat -d 'Runs of each system at each depth, of which the median counts' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l size-mib -d 'MiB of the volume, all of it written over and over' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l place -d 'Where the files go; tmpfs for the figures to mean what they say' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l shards -d 'Threads that carry data in each of Basalt\'s daemons' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l systems -d 'Which systems take part' -r -f -a "basalt\t''
quorum\t''
nbdkit\t''"
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from write" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l row -d 'Which rows; all when left out' -r -f -a "write-32\t'Random writes, 32 in flight'
write-128\t'The same, 128 in flight over four connections'
write-1\t'One write after the other'
read-local\t'Random reads where the serving node has a replica'
read-client\t'Random reads where it has none'
sequential-write\t'Large writes in a row'
sequential-read-links\t'Large reads in a row from hosts whose links are slow'
commit\t'One write and flush after the other, on a disk'"
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l seconds -d 'Measured seconds of each run' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l repeat -d 'Rounds, in each of which every system of a row runs once' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l size-mib -d 'MiB of the volume, written once before anything is measured' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l place -d 'Where the files go; tmpfs for the figures to tell of the software' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l disk -d 'Where they go for the row that is about a disk' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l shards -d 'Threads that carry data in each of Basalt\'s daemons' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l link-mbit -d 'What each replica\'s host may send, where links are the limit' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from rows" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from idle" -l volumes -d 'How many volumes, each a resource of its own with three replicas' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from idle" -l size-mib -d 'MiB of each backing file, which is sparse' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from idle" -l writes -d 'Blocks of 4 KiB that are written before, at random places of the first volume' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from idle" -l seconds -d 'How long the nodes are left alone; CPU time is counted meanwhile' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from idle" -l place -d 'Where the sparse files go, in a directory that is removed at the end' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from idle" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from idle" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l rounds -d 'Absences' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l absence -d 'What happens to the node' -r -f -a "frozen\t'It stands still, and goes on as if nothing had happened'
killed\t'Its daemon is killed, and starts again: what its activity log names is copied, too'"
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l away -d 'Seconds of each absence' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l base -d 'Seconds of each window in which nothing is copied' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l size-mib -d 'MiB of the volume, all of which is written before' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l depth -d 'Writes in flight' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l place -d 'Where the replicas go, in a directory that is removed at the end' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from resync" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l seconds -d 'How long to strike' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l replicas -d 'Nodes with a replica' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l clients -d 'Nodes without one' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l shards -d 'Threads that carry data, of the nodes in turn' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l schedule -d 'Seed of the schedule; random when left out' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l place -d 'Where the nodes\' files go, in a directory that is removed at the end' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l span-mib -d 'MiB from the start of the volume that are written and read' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l connections -d 'Connections, where the server allows several' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l depth -d 'Requests in flight per connection' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l seed -d 'Seed of the mix of requests; random when left out' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l answer-limit -d 'Seconds that a request may take before its connection is given up' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l reconnect-limit -d 'Seconds without any server before the run has failed' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from chaos" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from failover" -l rounds -d 'How often each of the four happens' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from failover" -l place -d 'Where the nodes\' files go, in a directory that is removed at the end' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from failover" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from failover" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from puppet" -l size-mib -d 'MiB of the volume' -r
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from puppet" -l place -d 'Where the three backing files go, in a directory that is removed at the end' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from puppet" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Load a volume over NBD and check every answer'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "canary" -d 'Check the checker against servers with one flaw each'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "write" -d 'Measure what a replicated write costs, beside two other systems'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "rows" -d 'Measure each goal for speed and cost beside what it is compared with'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "idle" -d 'Measure memory, CPU and start of nodes that have volumes and nothing to do'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "resync" -d 'Measure what the return of a node costs its clients, and how long it takes'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "chaos" -d 'Strike nodes and the network between them, under the checker\'s load'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "failover" -d 'Measure how long a volume stands still when nodes die, vanish or stand still'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "puppet" -d 'Start three nodes, then kill and restart them as standard input says'
complete -c basalt -n "__fish_basalt_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand demo" -l seconds-scale -d 'Stretches or shortens the load between the steps' -r
complete -c basalt -n "__fish_basalt_using_subcommand demo" -l size-mib -d 'MiB of the volume' -r
complete -c basalt -n "__fish_basalt_using_subcommand demo" -l place -d 'Where the three backing files go, in a directory that is removed at the end' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand demo" -l fio -d 'Also measure random 4 KiB writes with fio, which must be installed'
complete -c basalt -n "__fish_basalt_using_subcommand demo" -l json -d 'Print the result as JSON'
complete -c basalt -n "__fish_basalt_using_subcommand demo" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand node" -l name -d 'Name of this node, as in the `on` sections of the configuration' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l state-dir -d 'Directory for what the node must not lose; it is made if it is not there' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand node" -l admin-socket -d 'Answer `basalt adm` on this unix socket [default: admin.sock in the state directory]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand node" -l admin-group -d 'Let this group, by name or number, use that socket too; without it only the daemon\'s own user may. Who may use it may do anything to the resources' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l nbd -d 'Serve NBD clients on this address; may be given more than once' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l nbd-tls -d 'Serve NBD clients on this address that use TLS and show a certificate (`basalt pki issue-client`); the file `clients` in the directory of --pki says what they may use. May be given more than once' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l nbd-unix -d 'Serve NBD clients on this unix socket; may be given more than once' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand node" -l nvme -d 'Serve NVMe/TCP initiators on this address, usually on port 4420 and, for discovery, on 8009; may be given more than once. There is neither a password nor encryption' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l vhost -d 'Serve virtual machines (vhost-user-blk) on a unix socket for each volume in this directory, named RESOURCE-VOLUME.sock; its group may use them' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand node" -l metrics -d 'Serve metrics for Prometheus on this address, under /metrics. There is neither a password nor encryption: take a loopback address, such as 127.0.0.1:9942' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l pki -d 'Directory with the certificates of this node: ca.crt, node.crt and node.key, as `basalt pki issue` writes them. They are read again when they change' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand node" -l shards -d 'Threads that carry data; as many as the machine has cores, at most 8, if not given' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l device-timeout -d 'How many seconds the users of a block device wait when this daemon died. If no daemon has taken the device over by then, their requests fail and the device goes' -r
complete -c basalt -n "__fish_basalt_using_subcommand node" -l exit-with-parent -d 'End when the process that started the daemon ends'
complete -c basalt -n "__fish_basalt_using_subcommand node" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand node" -s V -l version -d 'Print version'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -s V -l version -d 'Print version'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "create-md" -d 'Write fresh metadata on the backing disks of this node'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "adopt-drbd" -d 'Take the replicas of this node over from DRBD 9 or 8.4, where they lie, or give them back'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "up" -d 'Configure, attach and connect'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "down" -d 'Disconnect, detach and forget'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "adjust" -d 'Make the running state follow the configuration file'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "attach" -d 'Take the backing disk into use'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "detach" -d 'Go on without the backing disk'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "connect" -d 'Connect to the peers, or to the one of RES:PEER'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "disconnect" -d 'Part from the peers, or from the one of RES:PEER'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "primary" -d 'Take the right to write'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "new-current-uuid" -d 'Start a volume whose replicas are known to be equal, without a first copy'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "secondary" -d 'Give the right to write away'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "status" -d 'Show roles, disks, connections and what is wrong with them'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "explain" -d 'Say in words why it is as it is, what it waits for, and what to do'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "report" -d 'Gather what somebody who is to help needs, without secrets, in a new folder'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "events2" -d 'Tell the state, and then every change of it, a line each'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "role" -d 'Show the role of this node, one line per resource'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "cstate" -d 'Show the state of the connections, one line each'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "dstate" -d 'Show the state of the disks, local/peers, one line per volume'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "wait-connect" -d 'Wait until all peers, or the one of RES:PEER, are connected'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "wait-con-int" -d 'Wait until all peers, or the one of RES:PEER, are connected'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "wait-sync" -d 'Wait until nothing is being copied any more'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "dump" -d 'Print the configuration as it was understood'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "dump-xml" -d 'Print the configuration as XML'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-nop" -d 'Read the configuration and do nothing'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-mod-parms" -d 'Print the parameters that a kernel module would get'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-resources" -d 'Print the names of the resources of this node'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-list-adjustable" -d 'Print the names of the resources that `adjust` takes'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-list-config-file" -d 'Print the path of the configuration file'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-resource" -d 'Print the name of the resource'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-dev" -d 'Print the device names'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-minor" -d 'Print the minors'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-ll-dev" -d 'Print the backing disks'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-md-dev" -d 'Print where the metadata is'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-md-idx" -d 'Print the kind of the metadata: `internal`, `flexible` or an index'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-ip" -d 'Print the own address of each path'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-udev" -d 'Print the names for udev'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "sh-lr-of" -d 'Refused: there are no stacked resources'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "invalidate" -d 'Give up the local data and copy it all again from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "verify" -d 'Compare the replicas while they are in use'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "suspend-io" -d 'Finish the requests that are under way, and hold the next ones back'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "resume-io" -d 'Let requests go on'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and not __fish_seen_subcommand_from create-md adopt-drbd up down adjust attach detach connect disconnect primary new-current-uuid secondary status explain report events2 role cstate dstate wait-connect wait-con-int wait-sync dump dump-xml sh-nop sh-mod-parms sh-resources sh-list-adjustable sh-list-config-file sh-resource sh-dev sh-minor sh-ll-dev sh-md-dev sh-md-idx sh-ip sh-udev sh-lr-of invalidate verify suspend-io resume-io help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -l max-peers -d 'Leave room for so many peers [default: as many as are configured]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -l force -d 'Overwrite what is on the disk: a file system, or metadata'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from create-md" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l same-as -d 'Refuse unless the data is known to be that of this generation of DRBD' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l drbd-meta-disk -d 'Where DRBD keeps its metadata: `internal`, PATH or `PATH[N]` [default: where it is found]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l max-peers -d 'Leave room for so many peers [default: as many as are configured, and some more]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l state-dir -d 'State directory of the daemon: DRBD\'s metadata is kept there' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l rollback -d 'Put DRBD\'s metadata back, as it was; only until the resource is used'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adopt-drbd" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from up" -l node -d 'Name of this node in the configuration, for --dry-run [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from up" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from up" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from up" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from up" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from up" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from up" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from down" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from down" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from down" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from down" -l force -d 'Do it also where it is refused for safety'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from down" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from down" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from down" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -s v -l verbose -d 'Tell the steps'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -l skip-disk -d 'Accepted for compatibility: disks and connections are compared together'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -l skip-net -d 'Accepted for compatibility: disks and connections are compared together'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from adjust" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from attach" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from attach" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from attach" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from attach" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from attach" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from attach" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from detach" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from detach" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from detach" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from detach" -l force -d 'Do it also where it is refused for safety'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from detach" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from detach" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from detach" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from connect" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from connect" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from connect" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from connect" -l discard-my-data -d 'After a split brain: give up what this node wrote since then, and take the peer\'s'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from connect" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from connect" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from connect" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from disconnect" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from disconnect" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from disconnect" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from disconnect" -l force -d 'Do it also where it is refused for safety'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from disconnect" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from disconnect" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from disconnect" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from primary" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from primary" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from primary" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from primary" -l force -d 'Do it also where it is refused for safety'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from primary" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from primary" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from primary" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from new-current-uuid" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from new-current-uuid" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from new-current-uuid" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from new-current-uuid" -l clear-bitmap -d 'The replicas hold the same already, as fresh zeros do: nothing is to be copied'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from new-current-uuid" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from new-current-uuid" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from new-current-uuid" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from secondary" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from secondary" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from secondary" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from secondary" -l force -d 'Do it also where it is refused for safety'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from secondary" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from secondary" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from secondary" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -s s -l statistics -d 'Show counters'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Show also what is as it should be; twice: the workings of a resync'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from explain" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from explain" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from explain" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from explain" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from explain" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -l dir -d 'Where the folder is made' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -l state-dir -d 'State directory of the daemon' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -l log -d 'Log of the daemon [default: the journal of the unit basalt-node]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l color -d 'Accepted for compatibility: there are no colours' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l rcvbuf -d 'Accepted for compatibility: the daemon bounds what waits for a reader' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l now -d 'Tell the state, and end'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l timestamps -d 'Begin each line with the time'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -s s -l statistics -d 'Tell counters too'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l diff -d 'Tell changes as `old->new`'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l full -d 'Tell of a changed object also what did not change'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l poll -d 'Tell changed counters for each line `n` on standard input'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from events2" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from role" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from role" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from role" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from role" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from role" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from role" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from cstate" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from cstate" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from cstate" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from cstate" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from cstate" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from cstate" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dstate" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dstate" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dstate" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dstate" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dstate" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dstate" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-connect" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-con-int" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from wait-sync" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump-xml" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump-xml" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump-xml" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump-xml" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump-xml" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from dump-xml" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-nop" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-nop" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-nop" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-nop" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-nop" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-nop" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-mod-parms" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-mod-parms" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-mod-parms" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-mod-parms" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-mod-parms" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-mod-parms" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resources" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resources" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resources" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resources" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resources" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resources" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resources" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-adjustable" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-adjustable" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-adjustable" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-adjustable" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-adjustable" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-adjustable" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-adjustable" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-config-file" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-config-file" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-config-file" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-config-file" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-config-file" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-list-config-file" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resource" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resource" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resource" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resource" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resource" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resource" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-resource" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-dev" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-dev" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-dev" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-dev" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-dev" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-dev" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-dev" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-minor" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-minor" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-minor" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-minor" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-minor" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-minor" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-minor" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ll-dev" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ll-dev" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ll-dev" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ll-dev" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ll-dev" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ll-dev" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ll-dev" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-dev" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-dev" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-dev" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-dev" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-dev" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-dev" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-dev" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-idx" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-idx" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-idx" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-idx" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-idx" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-idx" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-md-idx" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ip" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ip" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ip" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ip" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ip" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ip" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-ip" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-udev" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-udev" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-udev" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-udev" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-udev" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-udev" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-udev" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-lr-of" -l node -d 'Name of this node in the configuration [default: the host name]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-lr-of" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-lr-of" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-lr-of" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-lr-of" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-lr-of" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from sh-lr-of" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from invalidate" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from invalidate" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from invalidate" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from invalidate" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from invalidate" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from invalidate" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -s s -l start -d 'Begin here: sectors of 512 bytes, or a number with K, M or G' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -s S -l stop -d 'End here' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -l repair -d 'Make equal what differs: as most replicas have it, or this node\'s without a majority'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from suspend-io" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from suspend-io" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from suspend-io" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from suspend-io" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from suspend-io" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from suspend-io" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from resume-io" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from resume-io" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from resume-io" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from resume-io" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from resume-io" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from resume-io" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "create-md" -d 'Write fresh metadata on the backing disks of this node'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "adopt-drbd" -d 'Take the replicas of this node over from DRBD 9 or 8.4, where they lie, or give them back'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "up" -d 'Configure, attach and connect'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "down" -d 'Disconnect, detach and forget'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "adjust" -d 'Make the running state follow the configuration file'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "attach" -d 'Take the backing disk into use'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "detach" -d 'Go on without the backing disk'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "connect" -d 'Connect to the peers, or to the one of RES:PEER'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "disconnect" -d 'Part from the peers, or from the one of RES:PEER'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "primary" -d 'Take the right to write'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "new-current-uuid" -d 'Start a volume whose replicas are known to be equal, without a first copy'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "secondary" -d 'Give the right to write away'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show roles, disks, connections and what is wrong with them'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Say in words why it is as it is, what it waits for, and what to do'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "report" -d 'Gather what somebody who is to help needs, without secrets, in a new folder'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "events2" -d 'Tell the state, and then every change of it, a line each'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "role" -d 'Show the role of this node, one line per resource'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "cstate" -d 'Show the state of the connections, one line each'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "dstate" -d 'Show the state of the disks, local/peers, one line per volume'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "wait-connect" -d 'Wait until all peers, or the one of RES:PEER, are connected'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "wait-sync" -d 'Wait until nothing is being copied any more'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "dump" -d 'Print the configuration as it was understood'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "dump-xml" -d 'Print the configuration as XML'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-nop" -d 'Read the configuration and do nothing'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-mod-parms" -d 'Print the parameters that a kernel module would get'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-resources" -d 'Print the names of the resources of this node'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-list-adjustable" -d 'Print the names of the resources that `adjust` takes'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-list-config-file" -d 'Print the path of the configuration file'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-resource" -d 'Print the name of the resource'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-dev" -d 'Print the device names'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-minor" -d 'Print the minors'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-ll-dev" -d 'Print the backing disks'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-md-dev" -d 'Print where the metadata is'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-md-idx" -d 'Print the kind of the metadata: `internal`, `flexible` or an index'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-ip" -d 'Print the own address of each path'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-udev" -d 'Print the names for udev'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "sh-lr-of" -d 'Refused: there are no stacked resources'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "invalidate" -d 'Give up the local data and copy it all again from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Compare the replicas while they are in use'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "suspend-io" -d 'Finish the requests that are under way, and hold the next ones back'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "resume-io" -d 'Let requests go on'
complete -c basalt -n "__fish_basalt_using_subcommand adm; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -s V -l version -d 'Print version'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "status" -d 'Show roles, disks, connections and what is wrong with them'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "events2" -d 'Tell the state, and then every change of it, a line each'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "show" -d 'Show the configuration that runs'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "role" -d 'Show the role of this node'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "cstate" -d 'Show the state of the connection to a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "dstate" -d 'Show the state of the disks of a volume, local/peers'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "down" -d 'Disconnect, detach and forget'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "primary" -d 'Take the right to write'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "secondary" -d 'Give the right to write away'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "connect" -d 'Connect to a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "disconnect" -d 'Part from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "detach" -d 'Go on without the backing disk'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "invalidate" -d 'Give up the local data and copy it all again from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "suspend-io" -d 'Finish the requests that are under way, and hold the next ones back'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "resume-io" -d 'Let requests go on'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "new-current-uuid" -d 'Start a volume whose replicas are known to be equal, without a first copy'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "wait-connect-resource" -d 'Wait until all peers are connected'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "wait-connect-connection" -d 'Wait until a peer is connected'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "wait-connect-volume" -d 'Wait until a volume of a peer is seen'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "wait-sync-resource" -d 'Wait until nothing is being copied any more'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "wait-sync-connection" -d 'Wait until nothing is being copied to or from a peer any more'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "wait-sync-volume" -d 'Wait until a volume is not being copied to or from a peer any more'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and not __fish_seen_subcommand_from status events2 show role cstate dstate down primary secondary connect disconnect detach invalidate suspend-io resume-io new-current-uuid wait-connect-resource wait-connect-connection wait-connect-volume wait-sync-resource wait-sync-connection wait-sync-volume help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -s s -l statistics -d 'Show counters'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Show also what is as it should be; twice: the workings of a resync'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l color -d 'Accepted for compatibility: there are no colours' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l rcvbuf -d 'Accepted for compatibility: the daemon bounds what waits for a reader' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l now -d 'Tell the state, and end'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l timestamps -d 'Begin each line with the time'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -s s -l statistics -d 'Tell counters too'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l diff -d 'Tell changes as `old->new`'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l full -d 'Tell of a changed object also what did not change'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l poll -d 'Tell changed counters for each line `n` on standard input'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from events2" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from show" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from show" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from show" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from show" -s D -l show-defaults -d 'Show also what was not set'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from show" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from show" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from role" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from role" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from role" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from role" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from role" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from role" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from cstate" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from cstate" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from cstate" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from cstate" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from cstate" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from cstate" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from dstate" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from dstate" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from dstate" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from dstate" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from dstate" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from dstate" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from down" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from down" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from down" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from down" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from down" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from down" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from primary" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from primary" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from primary" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from primary" -l force -d 'Do it also where it is refused for safety'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from primary" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from primary" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from primary" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from secondary" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from secondary" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from secondary" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from secondary" -l force -d 'Fail the requests that are still open'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from secondary" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from secondary" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from secondary" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from connect" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from connect" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from connect" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from connect" -l discard-my-data -d 'After a split brain: give up what this node wrote since then, and take the peer\'s'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from connect" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from connect" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from connect" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from disconnect" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from disconnect" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from disconnect" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from disconnect" -l force -d 'Do it also where it is refused for safety'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from disconnect" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from disconnect" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from disconnect" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from detach" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from detach" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from detach" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from detach" -l force -d 'Do not wait for requests that the disk still owes'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from detach" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from detach" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from detach" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from invalidate" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from invalidate" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from invalidate" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from invalidate" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from invalidate" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from invalidate" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from suspend-io" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from suspend-io" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from suspend-io" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from suspend-io" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from suspend-io" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from suspend-io" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from resume-io" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from resume-io" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from resume-io" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from resume-io" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from resume-io" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from resume-io" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from new-current-uuid" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from new-current-uuid" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from new-current-uuid" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from new-current-uuid" -l clear-bitmap -d 'The replicas hold the same already'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from new-current-uuid" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from new-current-uuid" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from new-current-uuid" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-resource" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-connection" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-connect-volume" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-resource" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-connection" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -l wfc-timeout -d 'Where all replicas were in sync' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -l degr-wfc-timeout -d 'Where some replica was not in sync [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -l outdated-wfc-timeout -d 'Where the replica of this node is outdated [default: as --wfc-timeout]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -l wait-after-sb -d 'Wait also for connections that are StandAlone' -r -f -a "true\t''
false\t''"
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -s c -l config-file -d 'Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -l node-socket -d 'Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]' -r -F
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -l timeout -d 'Give up waiting for the daemon after so long [default: 30; `primary` 60]' -r
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -s d -l dry-run -d 'Only tell the steps of `up` and `adjust`, what `primary` would find and give up, and whether `adopt-drbd` is possible'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -l json -d 'Answer in JSON'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from wait-sync-volume" -s h -l help -d 'Print help'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show roles, disks, connections and what is wrong with them'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "events2" -d 'Tell the state, and then every change of it, a line each'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the configuration that runs'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "role" -d 'Show the role of this node'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "cstate" -d 'Show the state of the connection to a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "dstate" -d 'Show the state of the disks of a volume, local/peers'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "down" -d 'Disconnect, detach and forget'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "primary" -d 'Take the right to write'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "secondary" -d 'Give the right to write away'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "connect" -d 'Connect to a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "disconnect" -d 'Part from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "detach" -d 'Go on without the backing disk'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "invalidate" -d 'Give up the local data and copy it all again from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "suspend-io" -d 'Finish the requests that are under way, and hold the next ones back'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "resume-io" -d 'Let requests go on'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "new-current-uuid" -d 'Start a volume whose replicas are known to be equal, without a first copy'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "wait-connect-resource" -d 'Wait until all peers are connected'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "wait-connect-connection" -d 'Wait until a peer is connected'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "wait-connect-volume" -d 'Wait until a volume of a peer is seen'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "wait-sync-resource" -d 'Wait until nothing is being copied any more'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "wait-sync-connection" -d 'Wait until nothing is being copied to or from a peer any more'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "wait-sync-volume" -d 'Wait until a volume is not being copied to or from a peer any more'
complete -c basalt -n "__fish_basalt_using_subcommand setup; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "explain" -d 'Say in words why a resource is as it is, what it waits for, and what to do'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "top" -d 'Watch the volumes of this node in a terminal'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "device" -d 'Remove block devices whose daemon is gone'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "pki" -d 'Make the certificates with which nodes and clients prove who they are'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "install-links" -d 'Make links to this program under the names `drbdadm` and `drbdsetup`'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "manuals" -d 'Write man pages and completions of shells'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "bench" -d 'Load and check volumes; by itself, measure a matrix of loads on volumes of several nodes'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "demo" -d 'Watch a three-node volume survive the loss of its nodes'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "node" -d 'Runs the daemon of this machine: it keeps the resources that were brought up with `basalt adm up`, and serves their volumes over NBD and NVMe/TCP'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "adm" -d 'Administers replicated volumes: drbdadm\'s verbs, asked of the node daemon'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "setup" -d 'The part of drbdsetup that scripts use, asked of the node daemon'
complete -c basalt -n "__fish_basalt_using_subcommand help; and not __fish_seen_subcommand_from explain top device pki install-links manuals bench demo node adm setup help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "remove" -d 'Remove block devices whose daemon is gone: their users get errors, and need not wait for another daemon'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "supervise" -d 'Watch over the device of a daemon'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from pki" -f -a "init" -d 'Make the CA of a new cluster, and a first configuration in which TLS is on'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from pki" -f -a "issue" -d 'Make the certificate and key of a node'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from pki" -f -a "issue-client" -d 'Make the certificate and key of an NBD client'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "verify" -d 'Load a volume over NBD and check every answer'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "canary" -d 'Check the checker against servers with one flaw each'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "write" -d 'Measure what a replicated write costs, beside two other systems'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "rows" -d 'Measure each goal for speed and cost beside what it is compared with'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "idle" -d 'Measure memory, CPU and start of nodes that have volumes and nothing to do'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "resync" -d 'Measure what the return of a node costs its clients, and how long it takes'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "chaos" -d 'Strike nodes and the network between them, under the checker\'s load'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "failover" -d 'Measure how long a volume stands still when nodes die, vanish or stand still'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "puppet" -d 'Start three nodes, then kill and restart them as standard input says'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "create-md" -d 'Write fresh metadata on the backing disks of this node'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "adopt-drbd" -d 'Take the replicas of this node over from DRBD 9 or 8.4, where they lie, or give them back'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "up" -d 'Configure, attach and connect'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "down" -d 'Disconnect, detach and forget'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "adjust" -d 'Make the running state follow the configuration file'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "attach" -d 'Take the backing disk into use'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "detach" -d 'Go on without the backing disk'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "connect" -d 'Connect to the peers, or to the one of RES:PEER'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "disconnect" -d 'Part from the peers, or from the one of RES:PEER'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "primary" -d 'Take the right to write'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "new-current-uuid" -d 'Start a volume whose replicas are known to be equal, without a first copy'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "secondary" -d 'Give the right to write away'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "status" -d 'Show roles, disks, connections and what is wrong with them'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "explain" -d 'Say in words why it is as it is, what it waits for, and what to do'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "report" -d 'Gather what somebody who is to help needs, without secrets, in a new folder'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "events2" -d 'Tell the state, and then every change of it, a line each'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "role" -d 'Show the role of this node, one line per resource'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "cstate" -d 'Show the state of the connections, one line each'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "dstate" -d 'Show the state of the disks, local/peers, one line per volume'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "wait-connect" -d 'Wait until all peers, or the one of RES:PEER, are connected'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "wait-sync" -d 'Wait until nothing is being copied any more'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "dump" -d 'Print the configuration as it was understood'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "dump-xml" -d 'Print the configuration as XML'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-nop" -d 'Read the configuration and do nothing'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-mod-parms" -d 'Print the parameters that a kernel module would get'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-resources" -d 'Print the names of the resources of this node'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-list-adjustable" -d 'Print the names of the resources that `adjust` takes'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-list-config-file" -d 'Print the path of the configuration file'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-resource" -d 'Print the name of the resource'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-dev" -d 'Print the device names'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-minor" -d 'Print the minors'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-ll-dev" -d 'Print the backing disks'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-md-dev" -d 'Print where the metadata is'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-md-idx" -d 'Print the kind of the metadata: `internal`, `flexible` or an index'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-ip" -d 'Print the own address of each path'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-udev" -d 'Print the names for udev'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "sh-lr-of" -d 'Refused: there are no stacked resources'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "invalidate" -d 'Give up the local data and copy it all again from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "verify" -d 'Compare the replicas while they are in use'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "suspend-io" -d 'Finish the requests that are under way, and hold the next ones back'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from adm" -f -a "resume-io" -d 'Let requests go on'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "status" -d 'Show roles, disks, connections and what is wrong with them'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "events2" -d 'Tell the state, and then every change of it, a line each'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "show" -d 'Show the configuration that runs'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "role" -d 'Show the role of this node'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "cstate" -d 'Show the state of the connection to a peer'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "dstate" -d 'Show the state of the disks of a volume, local/peers'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "down" -d 'Disconnect, detach and forget'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "primary" -d 'Take the right to write'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "secondary" -d 'Give the right to write away'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "connect" -d 'Connect to a peer'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "disconnect" -d 'Part from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "detach" -d 'Go on without the backing disk'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "invalidate" -d 'Give up the local data and copy it all again from a peer'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "suspend-io" -d 'Finish the requests that are under way, and hold the next ones back'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "resume-io" -d 'Let requests go on'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "new-current-uuid" -d 'Start a volume whose replicas are known to be equal, without a first copy'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "wait-connect-resource" -d 'Wait until all peers are connected'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "wait-connect-connection" -d 'Wait until a peer is connected'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "wait-connect-volume" -d 'Wait until a volume of a peer is seen'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "wait-sync-resource" -d 'Wait until nothing is being copied any more'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "wait-sync-connection" -d 'Wait until nothing is being copied to or from a peer any more'
complete -c basalt -n "__fish_basalt_using_subcommand help; and __fish_seen_subcommand_from setup" -f -a "wait-sync-volume" -d 'Wait until a volume is not being copied to or from a peer any more'
