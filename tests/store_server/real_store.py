"""A real S3 server (gofakes3) on this machine, which Go makes once out of the module proxy; objects are in its memory."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

MODULE, VERSION = "github.com/johannesboyne/gofakes3/cmd/gofakes3", "v1.2.0"
BUCKET = "lake"
KEPT = Path(sys.prefix) / "store-server"
_PATIENCE_S = 30.0


def made_by_go(module: str, version: str) -> Path:
    """A program, made when it is asked for first. Raises RuntimeError in one line where there is no Go, or where Go cannot make it."""
    made = KEPT / version / module.rpartition("/")[2]
    if made.exists():
        return made
    go = shutil.which("go")
    if go is None:
        raise RuntimeError(f"there is no Go on this machine, which makes {made.name} for these tests: install it, or put it on PATH")
    made.parent.mkdir(parents=True, exist_ok=True)
    # Made aside: a build that is interrupted leaves nothing that looks whole.
    aside = made.parent / "building"
    done = subprocess.run(
        [go, "install", f"{module}@{version}"], env={**os.environ, "GOBIN": str(aside)}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"Go cannot make {module}@{version}: {' '.join(done.stderr.split())}")
    (aside / made.name).rename(made)
    aside.rmdir()
    return made


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment_of(port: int) -> dict[str, str]:
    """What clients of a store on this machine need; the key is a dummy, so that none asks the network for one."""
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }


class Server:
    """A program that listens on a port of this machine, from `with` to its end. Its log is in `folder`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name, self._log = name, folder / f"{name}.log"
        self.port = free_port()

    def command(self) -> list[str]:
        """How it is started. Raises RuntimeError in one line where it cannot be got."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        command = self.command()
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        deadline = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                raise RuntimeError(f"{self._name} did not start: {self._log.read_text(encoding='utf-8', errors='replace')}")
            time.sleep(0.02)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


class RealStore(Server):
    """The S3 server; it has one empty bucket."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "gofakes3")

    def command(self) -> list[str]:
        """How it is started."""
        return [
            str(made_by_go(MODULE, VERSION)), "-backend", "memory", "-initialbucket", BUCKET, "-host", f"127.0.0.1:{self.port}", "-quiet",
        ]  # fmt: skip
