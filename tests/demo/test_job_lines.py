"""While a job's lines go into a file, the person who watches sees the answers alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from demo.job_lines import job_lines_in

#: In a process of its own: pytest has its own ideas of where a line goes.
WATCHED = """
import subprocess, sys
from pathlib import Path
from demo.job_lines import job_lines_in
with job_lines_in(Path(sys.argv[1])) as screen:
    print('of the job')
    print('a warning of it', file=sys.stderr)
    subprocess.run([sys.executable, '-c', 'print("of its child")'])
    screen('an answer\\nwith \\x1b[31m')
print('the end')
"""


def test_lines_of_the_job_and_its_children_are_in_the_file_and_answers_on_the_screen(tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "job.log"
    done = subprocess.run([sys.executable, "-c", WATCHED, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout == "an answer\nwith \\u001b[31m\nthe end\n"
    assert sorted(file.read_text(encoding="utf-8").splitlines()) == ["a warning of it", "of its child", "of the job"]


def test_after_an_error_lines_are_where_they_were(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="the job failed"), job_lines_in(tmp_path / "job.log"):
        raise ValueError("the job failed")
    print("after it")
    assert capfd.readouterr().out == "after it\n"
