"""Manifests for Kubernetes and settings of Prometheus in the docs can be copied: they parse; mounted volumes are declared."""

import pytest
from docs_pages import PAGES, text_of
from ruamel.yaml import YAML

_MANIFESTS = [
    pytest.param(block.split("```", 1)[0], id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(text_of(page).split("```yaml\n")[1:], 1)
]


_PODS = [one for one in _MANIFESTS if "\nvolumes:" in one.values[0]]
_CONTAINERS = [one for one in _MANIFESTS if one not in _PODS and "volumeMounts:" in one.values[0]]
#: Volumes of the broker's pod, for containers that are added to it.
_VOLUMES = {"collector", "events"}


def test_the_docs_have_manifests() -> None:
    """Otherwise the tests below would pass for nothing."""
    assert _PODS
    assert _CONTAINERS


@pytest.mark.parametrize("text", _MANIFESTS)
def test_a_manifest_parses(text: str) -> None:
    assert YAML(typ="safe").load(text)


@pytest.mark.parametrize("text", _CONTAINERS)
def test_a_container_that_is_added_to_the_pod_mounts_what_the_pod_has(text: str) -> None:
    """A list of containers."""
    for container in YAML(typ="safe").load(text):
        assert {mount["name"] for mount in container["volumeMounts"]} <= _VOLUMES


@pytest.mark.parametrize("text", _PODS)
def test_mounted_volumes_are_declared(text: str) -> None:
    """A mount without its volume is refused by Kubernetes; a volume without a mount has no use."""
    manifest = YAML(typ="safe").load(text)  # a repeated key is an error, too
    containers = manifest["initContainers"] + manifest["containers"]
    mounted = {mount["name"] for container in containers for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in manifest["volumes"]}


@pytest.mark.parametrize("text", _PODS)
def test_the_broker_loads_the_jar_and_writes_where_volumes_are_mounted(text: str) -> None:
    """The jar and the folder of the log, as the agent's line names them, lie in the broker's mounts."""
    (broker,) = YAML(typ="safe").load(text)["containers"]
    (line,) = [variable["value"] for variable in broker["env"] if variable["name"] == "PULSAR_EXTRA_OPTS"]
    jar, _, folder = line.removeprefix("-javaagent:").partition("=dir=")
    mounts = {mount["mountPath"] for mount in broker["volumeMounts"]}
    assert jar.rpartition("/")[0] in mounts
    assert folder in mounts
