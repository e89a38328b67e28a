"""What git has of this project is what somebody wrote: nothing that a tool made or fetched."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


# An archive of the project has no git, and nothing that git could have taken up by mistake.
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no clone")
def test_no_ignored_file_is_tracked() -> None:
    """A folder of fetched jars was committed once, before it was ignored."""
    listed = subprocess.run(["git", "ls-files", "-ci", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert listed.stdout.splitlines() == []
