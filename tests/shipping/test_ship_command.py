"""Arguments that cannot work stop the shipper before it looks for Kafka, with one line that names them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_pages import DOCS, text_of
from ruamel.yaml import YAML

from console.command_line import build_parser, main
from pipeline.sources.kafka_address import kafka_address

COLLECTOR = text_of(DOCS / "guide" / "collector.md")
UNIT = re.findall(r"^ExecStart=\S+/spark-submit\.sh ((?:.*\\\n)*.*)$", COLLECTOR, re.MULTILINE)
_MANIFESTS = [YAML(typ="safe").load(block.split("```", 1)[0]) for block in COLLECTOR.split("```yaml\n")[1:]]
CONTAINERS = [container["command"] for found in _MANIFESTS if isinstance(found, list) for container in found]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--events", "absent", "--to", "kafka://a:1/t"], "error: --events absent: is no folder"),
        (["--events", ".", "--to", "a:1/t"], "error: --to a:1/t: expected kafka://HOST:PORT/TOPIC"),
        (["--events", ".", "--to", "kafka://a/t"], "error: --to kafka://a/t: a is not HOST:PORT"),
        (["--events", ".", "--to", "kafka://a:1/t", "--client-file", "absent"], "error: --client-file absent: cannot be read"),
    ],
)
def test_bad_arguments(words: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ship", *words]) == 2
    assert capsys.readouterr().err.startswith(line)
    assert list(tmp_path.iterdir()) == []


def test_a_client_file_cannot_set_what_the_job_sets(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    client = tmp_path / "client.properties"
    client.write_text("bootstrap.servers=b:2\n")
    assert main(["ship", "--events", str(tmp_path), "--to", "kafka://a:1/t", "--client-file", str(client)]) == 2
    assert "line 1: bootstrap.servers is not for you to set" in capsys.readouterr().err


def test_the_docs_have_a_unit_and_a_container() -> None:
    """Otherwise the test below would pass for nothing."""
    assert (len(UNIT), len(CONTAINERS)) == (1, 1)


@pytest.mark.parametrize("words", [*(unit.replace("\\\n", " ").split() for unit in UNIT), *(command[1:] for command in CONTAINERS)])
def test_what_the_docs_start_follows(words: list[str]) -> None:
    args = build_parser("ship").parse_args(words)
    assert (args.follow, kafka_address(args.to).topic) == (True, "pulsar-events")


#: All that a shipper runs, but for Kafka's client, which it imports when it connects. Prints what is neither Python's nor ours.
IMPORTED = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import jobs.__main__, jobs.ship, pipeline.sources.shipping.sender
after = {name.partition(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
print(*sorted(after - {"console", "jobs", "pipeline", "schemas"}))
"""


def test_a_host_of_a_broker_needs_the_shippers_own_packages_and_no_others() -> None:
    needs = subprocess.run([sys.executable, "-m", "console.needs", "ship", "--follow"], capture_output=True, text=True, check=True)
    assert needs.stdout.split() == ["ship"]
    imported = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True).stdout.split()
    pins = re.findall(r"^([a-z-]+)==", (DOCS.parent / "requirements" / "ship.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"confluent_kafka", *imported} == {pin.replace("-", "_") for pin in pins}
