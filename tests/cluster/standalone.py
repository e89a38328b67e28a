"""A standalone cluster of Spark on this machine: a master and some workers on free ports of the loopback interface.

By hand: `.venv/bin/python tests/cluster/standalone.py`. It prints the address for --master, and runs until Ctrl-C.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

HOST = "127.0.0.1"
#: Far beyond what a busy machine needs to start a Java process.
PATIENCE_S = 120.0
#: What the processes must not get from a developer's shell: they would find code and rules that a real host does not have.
OF_THE_DRIVER = re.compile(r"^(SPARK_|PYSPARK_|NUMBA_|PYTHON|JDK_JAVA_OPTIONS)")
_MASTER_URL = re.compile(r"Starting Spark master at (spark://\S+)")


class Standalone:
    """The cluster, from `with` to its end. Logs and the folders of applications are in `folder`."""

    def __init__(self, folder: Path, *, workers: int = 2, cores: int = 1, memory_mb: int = 1024) -> None:
        """`cores` and `memory_mb` of each worker, for its executors."""
        self.folder = folder
        self._count, self._cores, self._memory_mb = workers, cores, memory_mb
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.url = ""

    def __enter__(self) -> "Standalone":
        try:
            self.url = self._started("master", "Master", "-h", HOST, "-p", "0", "--webui-port", "0", ready=_MASTER_URL)
            for number in range(1, self._count + 1):
                self.start_worker(number)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def start_worker(self, number: int) -> None:
        """Start a worker, or start it again after its end."""
        name = f"worker-{number}"
        options = ("-h", HOST, "--webui-port", "0", "-c", str(self._cores), "-m", f"{self._memory_mb}m", "-d", str(self.folder / name))
        self._started(name, "Worker", *options, self.url, ready=re.compile(r"Successfully registered with master (\S+)"))

    def kill_worker(self, number: int) -> None:
        """End a worker as a crash of its host would: with its executors, at once. Their Python processes follow."""
        for executor in self.executors(number):
            os.kill(executor, signal.SIGKILL)
        self._processes[f"worker-{number}"].kill()
        self._processes[f"worker-{number}"].wait()

    def kill_executors(self, number: int) -> int:
        """End a worker's executors, which it then starts anew. How many there were."""
        executors = self.executors(number)
        for executor in executors:
            os.kill(executor, signal.SIGKILL)
        return len(executors)

    def executors(self, number: int) -> list[int]:
        """Process ids of a worker's executors."""
        return [pid for pid in _children(self._processes[f"worker-{number}"].pid) if "CoarseGrainedExecutorBackend" in _command(pid)]

    def said_by_executors(self) -> str:
        """What all executors printed, their Python processes included."""
        logs = sorted(self.folder.glob("worker-*/app-*/*/stderr"))
        return "\n".join(f"--- {log}\n{log.read_text(encoding='utf-8', errors='replace')}" for log in logs)

    def _started(self, name: str, role: str, *options: str, ready: re.Pattern[str]) -> str:
        """Start a process and wait until its log has `ready`; the first group of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / f"{name}.log"
        home = _spark_home()
        environ = {key: value for key, value in os.environ.items() if not OF_THE_DRIVER.match(key)} | {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            # Another port, which nobody asked for.
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
        }
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role.lower()}.{role}", *options]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        self._processes[name] = process

        def found() -> re.Match[str] | None:
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended with {process.returncode}: {log.read_text(encoding='utf-8', errors='replace')}")
            return ready.search(log.read_text(encoding="utf-8", errors="replace"))

        return _waited_for(found, f"{name} is ready ({log})").group(1)

    def _stop(self) -> None:
        """Workers first: they end their executors."""
        for process in reversed(self._processes.values()):
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._processes.clear()


def _waited_for(found: Callable[[], re.Match[str] | None], what: str) -> re.Match[str]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        result = found()
        if result is not None:
            return result
        time.sleep(0.05)
    raise TimeoutError(f"not within {PATIENCE_S:.0f} s: {what}")


def _spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def _children(pid: int) -> list[int]:
    """Direct children of a process, by the parents that all processes name."""
    children = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue  # it ended
            if int(status.rpartition(")")[2].split()[1]) == pid:
                children.append(int(entry.name))
    return children


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""  # it ended


def main() -> int:
    """Run a cluster until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="how many (default: 2)")
    parser.add_argument("--cores", type=int, default=1, help="of each worker (default: 1)")
    parser.add_argument("--memory-mb", type=int, default=1024, help="of each worker, for its executors (default: 1024)")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="dispatch-cluster-") as folder:
        try:
            with Standalone(Path(folder), workers=args.workers, cores=args.cores, memory_mb=args.memory_mb) as cluster:
                print(f"{cluster.url}   logs in {folder}; Ctrl-C ends the cluster", flush=True)
                signal.pause()
        except KeyboardInterrupt:
            print("stopped", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
