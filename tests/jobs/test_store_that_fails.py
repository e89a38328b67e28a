"""A store that fails ends a command in one line; its exit code is no answer of a command that has some."""

from types import ModuleType

import pytest

from console import command_line
from console.command_line import READERS, main

FAULT = "Generic S3 error: Error performing GET http://127.0.0.1:1/b/w in 1.2s - Server returned non-2xx status code: 403 Forbidden: "


def _module(name: str) -> ModuleType:
    module = ModuleType(name)

    def run(args: object) -> int:
        raise OSError(FAULT)

    vars(module).update(run=run, add_arguments=lambda parser: None)
    return module


@pytest.mark.parametrize(("command", "code"), [(name, 2) for name in READERS] + [("maintain", 1), ("backfill", 1), ("load", 1)])
def test_it_is_one_line_and_no_answer(command: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command_line, "command_module", _module)
    assert main([command]) == code
    said = capsys.readouterr().err
    assert said.startswith("error: the object store failed: ")
    assert said.count("\n") == 1
