"""What python-linstor's classes do against a controller with four nodes and the pool `thin`.

Called with the port of the controller, and a port where nobody listens. Each function is a check.
"""

import sys

import linstor
from linstor import KV, Linstor, MultiLinstor, Resource, ResourceGroup, Volume

PORT, NOBODY = sys.argv[1:3]
URI = f"linstor://127.0.0.1:{PORT}"
MIB = 1024 * 1024


def worked(replies):
    assert replies, "no entry"
    for reply in replies:
        assert not reply.is_error(), reply
    assert replies[0].is_success(), replies[0]
    return replies


def low_level():
    with Linstor(URI) as lin:
        version = lin.controller_version()
        assert version.rest_api_version == "1.28.0", version.rest_api_version
        nodes = lin.node_list_raise().nodes
        assert [node.name for node in nodes] == ["n0", "n1", "n2", "n3"], nodes
        assert all(node.connection_status == "ONLINE" for node in nodes)
        pools = lin.storage_pool_list_raise(filter_by_stor_pools=["thin"]).storage_pools
        assert len(pools) == 4 and pools[0].is_thin(), pools
        assert pools[0].free_space.free_capacity == 100 * MIB, pools[0].free_space
        worked(lin.controller_set_prop("Aux/x", "1"))
        assert lin.controller_props()[0].properties == {"Aux/x": "1"}
        worked(lin.controller_del_prop("Aux/x"))
        worked(lin.node_modify("n0", property_dict={"Aux/site": "a"}))
        assert lin.node_create("n0", linstor.consts.VAL_NODE_TYPE_STLT, "10.0.0.0")[0].is_error()
        assert lin.resource_dfn_delete("none")[0].is_warning()
        assert not lin.resource_dfn_delete("none")[0].is_error()
        assert lin.snapshot_dfn_list()[0].snapshots == []
        assert lin.error_report_list() == [] or not lin.error_report_list()[0].is_error()
        worked(lin.resource_dfn_create("low"))
        worked(lin.volume_dfn_create("low", 16 * 1024))
        worked(lin.resource_auto_place("low", place_count=3, storage_pool=["thin"]))
        resources = lin.resource_list_raise(filter_by_resources=["low"]).resources
        assert len(resources) == 3, resources
        paths = {volume.device_path for it in resources for volume in it.volumes}
        assert paths == {"/dev/drbd/by-res/low/0"}, paths
        worked(lin.resource_make_available("n3", "low"))
        worked(lin.volume_dfn_modify("low", 0, size=32 * 1024))
        assert lin.resource_dfn_sync_status("low").synced_on_all
        worked(lin.resource_conn_modify("low", "n0", "n1", {"Aux/c": "1"}, []))
        assert lin.resource_conn_list_raise("low").resource_connections
        refused = lin.snapshot_create([], "low", "s1", False)
        assert refused[0].is_error(), refused
        worked(lin.resource_dfn_delete("low"))
        assert lin.resource_list_raise(filter_by_resources=["low"]).resources == []


def low_level_groups():
    with Linstor(URI) as lin:
        worked(lin.resource_group_create("gold", place_count=2, storage_pool=["thin"]))
        worked(lin.volume_group_create("gold"))
        worked(lin.resource_group_spawn("gold", "spawned", ["16M"]))
        info = lin.resource_group_query_size_info("gold")
        assert info.space_info.max_vlm_size_in_kib > 0, info
        assert lin.resource_group_qmvs("gold")[0].candidates[0].storage_pool == "thin"
        assert lin.resource_group_delete("gold")[0].is_error()
        worked(lin.resource_dfn_delete("spawned"))
        worked(lin.resource_group_delete("gold"))
        worked(lin.resource_create_and_auto_place("both", 16 * 1024, 2))
        worked(lin.resource_dfn_delete("both"))


def resource_class():
    resource = Resource("one-db", URI)
    resource.placement.redundancy = 2
    resource.placement.storage_pool = "thin"
    resource.volumes[0] = Volume(f"{16 * MIB}")
    resource.autoplace()
    assert len(resource.diskful_nodes()) == 2, resource.diskful_nodes()
    assert resource.linstor_name == "one-db", resource.linstor_name
    assert resource.volumes[0].device_path == "/dev/drbd/by-res/one-db/0"
    assert resource.is_thin()
    other = next(n for n in ("n0", "n1", "n2", "n3") if not resource.is_assigned(n))
    resource.activate(other)
    assert resource.is_diskless(other)
    resource.deactivate(other)
    resource.activate(resource.diskful_nodes()[0])
    resource.volumes[0].size = 32 * MIB
    assert Resource("one-db", URI).volumes[0].size == 32 * MIB
    resource.diskful(other)
    assert resource.is_diskful(other)
    resource.allow_two_primaries = True
    resource.allow_two_primaries = False
    try:
        resource.snapshot_create("s1")
    except linstor.LinstorError:
        pass
    else:
        raise AssertionError("a snapshot is refused")
    resource.delete()
    assert not Resource("one-db", URI).diskful_nodes()


def group_class():
    group = ResourceGroup("silver", URI)
    group.redundancy = 2
    group.storage_pool = ["thin"]
    group.nr_volumes = 1
    group.replicas_on_different = ["Aux/site"]
    group.replicas_on_different = []
    group.property_dict = {"Aux/k": "v"}
    assert group.query_max_volume_size()[0].candidates
    resource = group.create_resource("of-silver", ["16M"])
    assert len(resource.diskful_nodes()) == 2
    resource.delete()
    group.delete()


def key_values():
    store = KV("Tool", uri=URI)
    store["key"] = "value"
    assert KV("Tool", uri=URI)["key"] == "value"
    store.namespace = "/ns"
    store["inner"] = "1"
    assert list(store.items()) == [("inner", "1")], list(store.items())
    del store["inner"]
    store.namespace = "/"
    store.clear()
    assert "key" not in KV("Tool", uri=URI)


def several_controllers():
    uris = MultiLinstor.controller_uri_list(f"127.0.0.1:{NOBODY},127.0.0.1:{PORT}")
    with MultiLinstor(uris) as lin:
        assert lin.node_list_raise().nodes


CHECKS = [
    low_level,
    low_level_groups,
    resource_class,
    group_class,
    key_values,
    several_controllers,
]
FAILED = []
for check in CHECKS:
    try:
        check()
        print(f"{check.__name__}: ok")
    except Exception as error:  # Each check is told of.
        import traceback

        traceback.print_exc(file=sys.stdout)
        print(f"{check.__name__}: {error!r}")
        FAILED.append(check.__name__)
sys.exit(1 if FAILED else 0)
