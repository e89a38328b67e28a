"""A real S3 server (gofakes3) on this machine, which Go makes once out of the module proxy; objects are in its memory."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

MODULE, VERSION = "github.com/johannesboyne/gofakes3/cmd/gofakes3", "v1.2.0"
BUCKET = "lake"
KEPT = Path(sys.prefix) / "store-server" / VERSION
_PATIENCE_S = 30.0


def binary() -> Path:
    """The server, made when it is asked for first. Raises RuntimeError in one line where there is no Go, or where Go cannot make it."""
    made = KEPT / "gofakes3"
    if made.exists():
        return made
    go = shutil.which("go")
    if go is None:
        raise RuntimeError("there is no Go on this machine, which makes the S3 server of these tests: install it, or put it on PATH")
    KEPT.mkdir(parents=True, exist_ok=True)
    # Made aside: a build that is interrupted leaves nothing that looks whole.
    aside = KEPT / "building"
    done = subprocess.run(
        [go, "install", f"{MODULE}@{VERSION}"], env={**os.environ, "GOBIN": str(aside)}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"Go cannot make {MODULE}@{VERSION}: {' '.join(done.stderr.split())}")
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


class RealStore:
    """The server, from `with` to its end; it has one empty bucket. Its log is in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "gofakes3.log"
        self.port = free_port()

    def __enter__(self) -> "RealStore":
        command = [str(binary()), "-backend", "memory", "-initialbucket", BUCKET, "-host", f"127.0.0.1:{self.port}", "-quiet"]
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        deadline = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                raise RuntimeError(f"the S3 server did not start: {self._log.read_text(encoding='utf-8', errors='replace')}")
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
