"""The command `simulate`: what it prints, and what it refuses in one line."""

from pathlib import Path

import pytest

from console.command_line import build_parser, main

SCENARIO = """title = "One topic"
duration_s = 20
[[topics]]
name = "persistent://a/b/c"
[[topics.subscriptions]]
name = "s"
consumers = [{}]
"""


def test_a_scenario_becomes_a_log_that_keeps_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.toml").write_text(SCENARIO)
    out = tmp_path / "out"
    assert main(["simulate", str(tmp_path / "one.toml"), "--seed", "3", "--out", str(out)]) == 0
    assert "One topic: " in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["events", "facts.json", "truth.jsonl.zst"]
    assert main(["validate", str(out / "events")]) == 0
    assert ", 0 rejected" in capsys.readouterr().out


@pytest.mark.parametrize("scenario", ["mixed", "no_permits"])
def test_a_shipped_scenario_has_a_name(scenario: str) -> None:
    from jobs.simulate import scenario_file

    assert scenario_file(scenario).is_file()
    assert build_parser("simulate").parse_args(["simulate", scenario, "--out", "x"]).seed == 1


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here").touch()
    assert main(["simulate", "mixed", "--out", str(tmp_path)]) == 2
    assert "must be a new or empty folder" in capsys.readouterr().err


def test_a_bad_scenario_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.toml").write_text(SCENARIO.replace("duration_s", "duration"))
    assert main(["simulate", str(tmp_path / "bad.toml"), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "do you mean duration_s?" in said
    assert said.count("\n") == 1
    assert main(["simulate", str(tmp_path / "none.toml"), "--out", str(tmp_path / "out")]) == 2
