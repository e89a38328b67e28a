"""Manifests for Kubernetes in the docs can be copied: they parse, and every volume that a container mounts is declared."""

import pytest
from docs_pages import PAGES, text_of
from ruamel.yaml import YAML

_MANIFESTS = [
    pytest.param(block.split("```", 1)[0], id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(text_of(page).split("```yaml\n")[1:], 1)
]


def test_the_docs_have_manifests() -> None:
    """Otherwise the tests below would pass for nothing."""
    assert _MANIFESTS


@pytest.mark.parametrize("text", _MANIFESTS)
def test_mounted_volumes_are_declared(text: str) -> None:
    """A mount without its volume is refused by Kubernetes; a volume without a mount has no use."""
    manifest = YAML(typ="safe").load(text)  # a repeated key is an error, too
    containers = manifest["initContainers"] + manifest["containers"]
    mounted = {mount["name"] for container in containers for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in manifest["volumes"]}


@pytest.mark.parametrize("text", _MANIFESTS)
def test_the_broker_loads_the_jar_and_writes_where_volumes_are_mounted(text: str) -> None:
    """The jar and the folder of the log, as the agent's line names them, lie in the broker's mounts."""
    (broker,) = YAML(typ="safe").load(text)["containers"]
    (line,) = [variable["value"] for variable in broker["env"] if variable["name"] == "PULSAR_EXTRA_OPTS"]
    jar, _, folder = line.removeprefix("-javaagent:").partition("=dir=")
    mounts = {mount["mountPath"] for mount in broker["volumeMounts"]}
    assert jar.rpartition("/")[0] in mounts
    assert folder in mounts
