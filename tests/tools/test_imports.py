"""Set-up imports every module that needs the set `run` alone: without the packages of later sets it must not fail."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Imports them as set-up does, in an environment that lacks these packages.
IMPORTED = """
import importlib, sys
for name in sys.argv[1:]:
    sys.modules[name] = None
from tools.environment.imports import modules
for name in modules():
    importlib.import_module(name)
print(len(modules()))
"""


def pins(part: str) -> set[str]:
    return set(re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements" / f"{part}.lock").read_text(encoding="utf-8"), re.MULTILINE))


def test_set_up_imports_no_package_of_a_later_set() -> None:
    later = {name.replace("-", "_").lower() for name in (pins("serve") | pins("quality")) - pins("run")}
    assert {"starlette", "great_expectations"} <= later
    done = subprocess.run([sys.executable, "-c", IMPORTED, *later], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
