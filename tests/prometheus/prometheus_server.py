"""A real Prometheus on the loopback interface, and questions to it."""

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[2]
#: Where the package is unpacked; kept from run to run.
CACHE = ROOT / ".venv" / "prometheus"
PATIENCE_S = 30


def program(name: str) -> str:
    """`prometheus` or `promtool`: of this machine, else of Debian's package, which is not installed but unpacked."""
    found = shutil.which(name)
    if found is not None:
        return found
    unpacked = CACHE / "usr/bin" / name
    if not unpacked.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "prometheus"], cwd=CACHE, check=True, capture_output=True)
        (package,) = CACHE.glob("prometheus_*.deb")
        subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=CACHE, check=True)
    return str(unpacked)


@dataclass(frozen=True)
class Prometheus:
    """Where it listens, and the file with what it scrapes."""

    port: int
    targets: Path

    def ask(self, path: str, **asked: str) -> Any:
        """`data` of an answer of its API."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urlencode(asked)}", timeout=PATIENCE_S) as answer:
            return json.load(answer)["data"]

    def series(self, expr: str) -> list[dict[str, Any]]:
        """What a query has now."""
        found: list[dict[str, Any]] = self.ask("query", query=expr)["result"]
        return found

    def scrape(self, port: int) -> None:
        """From now on that port of this machine, as the same instance as before."""
        self.targets.write_text(json.dumps([{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": "serve"}}]), encoding="utf-8")

    def await_series(self, expr: str) -> list[dict[str, Any]]:
        """The series of a query, as soon as it has some. Raises AssertionError after a while."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := self.series(expr)):
            assert time.monotonic() < deadline, f"no series of {expr}"
            time.sleep(0.2)
        return found


@contextmanager
def prometheus(folder: Path, paths: Sequence[str], rules: str) -> Iterator[Prometheus]:
    """It scrapes these paths of the targets, and evaluates the rules, every second or two."""
    targets = folder / "targets.json"
    targets.write_text("[]", encoding="utf-8")
    (folder / "rules.yml").write_text(rules, encoding="utf-8")
    files = [{"files": [str(targets)], "refresh_interval": "1s"}]
    jobs = [{"job_name": path, "metrics_path": path, "file_sd_configs": files} for path in paths]
    settings = {
        "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yml"],
        "scrape_configs": jobs,
    }
    (folder / "prometheus.json").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        program("prometheus"),
        "--config.file",
        "prometheus.json",
        "--storage.tsdb.path",
        "data",
        "--web.listen-address",
        f"127.0.0.1:{port}",
    ]
    with (folder / "log").open("w") as log, subprocess.Popen(command, cwd=folder, stderr=log) as process:
        try:
            deadline = time.monotonic() + PATIENCE_S
            while b"ready to receive" not in (folder / "log").read_bytes():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield Prometheus(port, targets)
        finally:
            process.terminate()
