"""The zip for a cluster."""

import os
import subprocess
import sys
from pathlib import Path

from jobs.code_zip import write_zip


def test_the_same_code_gives_the_same_bytes(tmp_path: Path) -> None:
    write_zip(tmp_path / "a.zip")
    write_zip(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_code_and_defaults_work_from_the_zip(tmp_path: Path) -> None:
    write_zip(tmp_path / "code.zip")
    program = "import pipeline.settings as s; print(s.__file__, s.default_settings().lanes.window_ms)"
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "code.zip")}
    done = subprocess.run([sys.executable, "-P", "-c", program], env=environ, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(tmp_path / "code.zip" / "pipeline" / "settings.py"), "60000"]
