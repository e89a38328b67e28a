"""Debian's Chromium, headless: of this machine, else its packages unpacked and not installed; and axe-core, npm's. Fetched once."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the default run collects these tests, and has no driver
    from playwright.sync_api import Browser

#: Where all is unpacked; kept from run to run.
CACHE = Path(__file__).resolve().parents[2] / ".venv" / "browser"
AXE = "4.14.1"
AXE_SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
_LIBRARIES = "usr/lib"


@contextmanager
def chromium() -> Iterator["Browser"]:
    """The browser, until the end of the context."""
    from playwright.sync_api import sync_playwright

    program, environ = _program()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, env=environ)
        yield browser
        browser.close()


def axe_script() -> str:
    """axe-core, which finds what keeps people out of a page."""
    unpacked = CACHE / f"axe-core-{AXE}"
    if not unpacked.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", f"axe-core@{AXE}"], cwd=CACHE, check=True, capture_output=True)
        packed = CACHE / f"axe-core-{AXE}.tgz"
        found = sha256(packed.read_bytes()).hexdigest()
        assert found == AXE_SHA256, f"the axe-core that was fetched is not {AXE}: its SHA-256 is {found}"
        with tarfile.open(packed) as archive:
            archive.extractall(CACHE / "axe-unpacking", filter="data")
        (CACHE / "axe-unpacking").rename(unpacked)
    return (unpacked / "package" / "axe.min.js").read_text(encoding="utf-8")


def _program() -> tuple[str, dict[str, str]]:
    """Chromium, and the environment in which it finds its libraries."""
    found = shutil.which("chromium")
    if found is not None:
        return found, dict(os.environ)
    root = CACHE / "chromium"
    if not root.exists():
        _unpack(root)
    folders = [*(root / _LIBRARIES).glob("*-linux-gnu"), *(root / _LIBRARIES).glob("*-linux-gnu/pulseaudio")]
    return str(root / _LIBRARIES / "chromium/chromium"), {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}


def _unpack(root: Path) -> None:
    """The package, and those that it needs and this machine lacks. It appears whole or not at all."""
    packages, unpacking = CACHE / "packages", CACHE / "chromium-unpacking"
    (packages / "partial").mkdir(parents=True, exist_ok=True)
    shutil.rmtree(unpacking, ignore_errors=True)
    # Without its locks: nothing is installed, and no other user than root could take them.
    options = ["-o", f"Dir::Cache::archives={packages}", "-o", "Debug::NoLocking=true"]
    command = ["apt-get", "install", "--yes", "--no-install-recommends", "--download-only", *options, "chromium"]
    fetched = subprocess.run(command, check=False, capture_output=True, text=True)
    assert fetched.returncode == 0, f"Debian's Chromium cannot be fetched (apt-get update first?): {fetched.stderr}"
    for package in sorted(packages.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, unpacking], check=True)
    unpacking.rename(root)
    shutil.rmtree(packages)
