"""Arguments that cannot work stop the shipper before it looks for Kafka, with one line that names them."""

from pathlib import Path

import pytest

from jobs.cli import main


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
