"""The commands that `explain` prints, by the pulsar-admin of the server, at a real broker."""

import os
import shlex
import subprocess
from collections.abc import Iterator

import pytest
from pulsar_admin import known, of_help, printed

from tools.collector_jar import JAR
from tools.live_broker.pulsar import server
from tools.live_broker.standalone import Standalone, checked_collector

pytestmark = pytest.mark.broker
TOPIC, PARTITIONED, SUBSCRIPTION = "persistent://shop/eu/orders", "persistent://shop/eu/parts", "it's billing"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """With a topic and a partitioned one, and a subscription of each."""
    folder = tmp_path_factory.mktemp("admin")
    (folder / "events").mkdir()
    with Standalone(server(), checked_collector(JAR), folder, folder / "events") as found:
        admin = found.admin
        admin.make_namespace("shop/eu")
        admin.make_topic(TOPIC)
        admin.ask("PUT", "admin/v2/persistent/shop/eu/parts/partitions", 2)
        for topic in (TOPIC, f"{PARTITIONED}-partition-0"):
            admin.subscription("PUT", topic, SUBSCRIPTION)
        yield found


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """pulsar-admin with these words; its own settings have no place here."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PULSAR_")}
    tool = str(server() / "bin" / "pulsar-admin")
    return subprocess.run([tool, *words], capture_output=True, text=True, timeout=120, check=False, env=environment)


@pytest.mark.parametrize("topic", [TOPIC, f"{PARTITIONED}-partition-0"])
def test_the_broker_does_what_every_printed_command_asks(broker: Standalone, topic: str) -> None:
    # What deletes the subscription comes last. This broker has no transaction coordinator: of those commands only the help is compared.
    commands = [one for one in printed(topic, SUBSCRIPTION) if not one.startswith("pulsar-admin transactions ")]
    for command in sorted(commands, key=lambda one: "unsubscribe" in one):
        done = run("--admin-url", broker.admin.web, *shlex.split(command)[1:])
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    rate = broker.admin.ask_json(f"admin/v2/{topic.removesuffix('-partition-0').replace('://', '/')}/dispatchRate")
    assert (rate["dispatchThrottlingRateInMsg"], rate["dispatchThrottlingRateInByte"]) == (50, 8_000_000_000), (
        "the last command of the topic"
    )


@pytest.mark.parametrize("name", known())
def test_what_is_recorded_is_the_tool_s_own_help(name: str) -> None:
    asked = run(*name.split(), "--help")
    assert of_help(asked.stdout + asked.stderr) == known()[name]
