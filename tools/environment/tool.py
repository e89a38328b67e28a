"""Runs the programs that set-up needs, each with a log; when one fails, the others end, too."""

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class Tools:
    """The programs that run now. Any thread may start one."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._changed = threading.Lock()
        self._stopped = False

    def run(self, command: Sequence[str], log: Path, environ: Mapping[str, str], on_line: Callable[[str], None]) -> bool:
        """Run a program to its end; whether it succeeded. Each line that it prints goes into `log`, then to `on_line`."""
        with log.open("w", encoding="utf-8") as lines:
            process = self._start(command, environ)
            if process is None:
                return False
            assert process.stdout is not None
            for line in process.stdout:
                lines.write(line)
                on_line(line.rstrip("\n"))
            code = process.wait()
        with self._changed:
            self._running.discard(process)
        return code == 0

    def stop(self) -> None:
        """End all programs, and start no more."""
        with self._changed:
            self._stopped = True
            for process in self._running:
                process.terminate()

    def _start(self, command: Sequence[str], environ: Mapping[str, str]) -> "subprocess.Popen[str] | None":
        with self._changed:
            if self._stopped:
                return None
            process = subprocess.Popen(
                command,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            self._running.add(process)
            return process


def last_line(log: Path) -> str:
    """The end of what a program printed, where a trace has its cause."""
    return (log.read_text(encoding="utf-8").strip().splitlines() or [""])[-1][:300]
