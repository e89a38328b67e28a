"""Render the one pass over events: `python -m generators` writes pipeline/rules/fold.py anew; a test compares it."""

import subprocess
import sys
from pathlib import Path

from pipeline.rules.render import rendered

FOLD = Path(__file__).resolve().parents[1] / "pipeline/rules/fold.py"


def formatted() -> str:
    """The text of fold.py, formatted as all our code."""
    text = rendered()
    for options in (["check", "--fix-only", "--quiet", "--select", "I"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *options, "--stdin-filename", str(FOLD), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text
