"""A server of Azure's blobs (Azurite) on this machine, which npm fetches once. It has not the second protocol of Azure's (DFS)."""

import base64
import hashlib
import hmac
import shutil
import subprocess
from email.utils import formatdate
from http.client import HTTPConnection
from pathlib import Path

from real_store import BUCKET, KEPT, Server

PACKAGE, VERSION = "azurite", "3.37.0"
#: The server's own account, which its documentation names.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_API = "2021-12-02"


def program() -> Path:
    """The server, fetched when it is asked for first. Raises RuntimeError in one line where there is no npm, or where npm cannot get it."""
    folder = KEPT / f"{PACKAGE}-{VERSION}"
    made = folder / "node_modules" / PACKAGE / "dist" / "src" / "blob" / "main.js"
    if made.exists():
        return made
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            "there is no npm on this machine, which gets the Azure server of these tests: install Node.js, or put it on PATH"
        )
    aside = folder.with_name(f"{folder.name}.work")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", f"{PACKAGE}@{VERSION}"]
    done = subprocess.run(command, cwd=aside, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"npm cannot get {PACKAGE}@{VERSION}: {' '.join(done.stderr.split())[:300]}")
    aside.rename(folder)
    return made


class RealAzure(Server):
    """The server; it has one empty container, and objects are in its memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "azurite")

    def command(self) -> list[str]:
        """How it is started."""
        return [
            shutil.which("node") or "node", str(program()), "--inMemoryPersistence", "--silent", "--skipApiVersionCheck",
            "--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", str(self.port),
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        """What clients need."""
        return {"AZURE_STORAGE_ACCOUNT_KEY": KEY, "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{self.port}/{ACCOUNT}"}

    def make_container(self) -> None:
        """As an administrator does it: neither obstore nor delta-rs makes one."""
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": _API}
        path = f"/{ACCOUNT}/{BUCKET}"
        named = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
        signed = "PUT" + "\n" * 12 + f"{named}/{ACCOUNT}{path}\nrestype:container"
        signature = base64.b64encode(hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()).decode()
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request("PUT", f"{path}?restype=container", headers={**headers, "Authorization": f"SharedKey {ACCOUNT}:{signature}"})
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        if answer.status != 201:
            raise RuntimeError(f"Azurite made no container: {answer.status} {said.decode(errors='replace')[:300]}")
