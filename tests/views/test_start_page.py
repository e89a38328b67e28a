"""The outputs that the tutorial and the README show are those of the commands, over the demo's log; the tables are made by `load`."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from docs_pages import GUIDE, README, text_of
from loaded import load_into

from console.command_line import main
from demo.bundled import CAPTURE, stage_log
from demo.report import report
from pipeline.warehouse.layout import Warehouse

#: As the pages name the demo's warehouse.
SHOWN_WAREHOUSE = "./warehouse/demo"
_AFTER_A_COMMAND = re.compile(r"```bash\n\./spark-submit\.sh ([^\n]+)\n```\n(?:(?!```).)*?```text\n(.*?)```", re.DOTALL)
_IN_ONE_BLOCK = re.compile(r"^\$ \./spark-submit\.sh ([^\n]+)\n((?:(?!\$ |```).*\n)+)", re.MULTILINE)
#: (page, command, its output as shown): `…` is output that is left out.
SHOWN = [
    pytest.param(command, output, id=f"{page.name}-{command.split()[0]}-{number}")
    for page, form in ((GUIDE / "start.md", _AFTER_A_COMMAND), (README, _IN_ONE_BLOCK))
    for number, (command, output) in enumerate(form.findall(text_of(page)))
]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the events that the demo gives to the job."""
    events, folder = tmp_path_factory.mktemp("events"), tmp_path_factory.mktemp("warehouse") / "demo"
    stage_log(CAPTURE, events)
    return load_into(events, folder).root


@pytest.fixture
def output_of(warehouse: str, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """What a shown command prints. Of the demo: its report alone, for the job that it runs before needs Spark."""

    def run(command: str) -> str:
        words = [warehouse if word == SHOWN_WAREHOUSE else word for word in shlex.split(command)]
        if words[0] == "demo":
            assert report(Warehouse(warehouse), SHOWN_WAREHOUSE, CAPTURE, tables="--tables" in words) == 0
        else:
            assert main(words) == (1 if words[0] == "explain" else 0)
        return capsys.readouterr().out

    return run


def lines_that_are_not_there(shown: str, printed: str) -> list[str]:
    """Lines of `shown` that `printed` does not have in this order; parts between `…` in one line, the first one at its begin."""
    missing, lines = [], iter(printed.splitlines())
    for line in filter(None, map(str.rstrip, shown.splitlines())):
        pattern = re.compile(r".*".join(map(re.escape, (part.strip() for part in line.split("…")))))
        if line != "…" and not any(pattern.match(one.strip()) and (line.endswith("…") or pattern.fullmatch(one.strip())) for one in lines):
            missing.append(line)
    return missing


def test_the_pages_show_outputs() -> None:
    """Otherwise the test below would pass for nothing."""
    assert {shown.values[0].split()[0] for shown in SHOWN} >= {"demo", "why", "explain", "top", "sql"}
    assert len(SHOWN) == 8


@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_a_shown_output_is_what_the_command_prints(output_of: Callable[[str], str], command: str, shown: str) -> None:
    assert lines_that_are_not_there(shown, output_of(command)) == []


def test_a_wrong_figure_or_order_would_be_found() -> None:
    printed = "a  12  x\nb  13  y\n"
    assert lines_that_are_not_there("a  12  …\n…\nb  13  y\n", printed) == []
    assert lines_that_are_not_there("a  14  …\n", printed) == ["a  14  …"]
    assert lines_that_are_not_there("a  12\n", printed) == ["a  12"]
    assert lines_that_are_not_there("b  13  y\na  12  x\n", printed) == ["a  12  x"]


def test_the_report_of_the_tutorial_is_written(warehouse: str, tmp_path: Path) -> None:
    assert main(["report", "--out", str(tmp_path / "incident.html"), "--warehouse", warehouse]) == 0
    assert "ledger" in (tmp_path / "incident.html").read_text(encoding="utf-8")
