"""Go's admin client, which pulsarctl is made of, and the structs of KEDA's scaler: Go makes one program of them, once."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "go"
KEDA = "github.com/kedacore/keda/v2@v2.17.2"
#: The scaler's file, and the first of its two structs of statistics; they stand together.
_FILE, _STRUCTS = "pkg/scalers/pulsar_scaler.go", r"^type pulsarSubscription struct \{.*?^\}\n\ntype pulsarStats struct \{.*?^\}\n"
_KEPT = Path(sys.prefix) / "go-clients"
_PATIENCE_S = 250


def has_go() -> bool:
    """Whether this machine has Go."""
    return shutil.which("go") is not None


def go_answers(*arguments: str) -> Any:
    """The JSON that main.go prints."""
    return json.loads(_run([str(_program()), *arguments], HERE))


def _program() -> Path:
    """Made anew where a source or a version changed."""
    sources = [HERE / name for name in ("main.go", "go.mod", "go.sum")]
    made, stamp = _KEPT / "clients", _KEPT / "made_of.txt"
    made_of = "\n".join([KEDA, *(source.read_text(encoding="utf-8") for source in sources)])
    if made.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == made_of:
        return made
    shutil.rmtree(_KEPT, ignore_errors=True)
    _KEPT.mkdir(parents=True)
    for source in sources:
        shutil.copy(source, _KEPT)
    (_KEPT / "keda.go").write_text(f"package main\n\n{_kedas_structs()}", encoding="utf-8")
    _run(["go", "build", "-o", str(made), "."], _KEPT)
    stamp.write_text(made_of, encoding="utf-8")
    return made


def _kedas_structs() -> str:
    """As they stand in the module: nobody outside of its package may name them."""
    module = json.loads(_run(["go", "mod", "download", "-json", KEDA], _KEPT))
    found = re.search(_STRUCTS, (Path(module["Dir"]) / _FILE).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None, f"{KEDA} has other structs"
    return found[0]


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "GOFLAGS": "-mod=mod -buildvcs=false"}, capture_output=True, text=True, check=False,
        timeout=_PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
