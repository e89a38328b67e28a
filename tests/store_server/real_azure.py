"""A server of Azure's blobs (Azurite) on this machine, which npm fetches once, and the way to it.

It has not the second protocol of Azure's (DFS). Hadoop's connector speaks TLS to it, and trusts a certificate by Java's options. The
others have no such option: they speak without TLS to the same port, and the way to the server adds it.
"""

import asyncio
import base64
import hashlib
import hmac
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.client import HTTPConnection
from pathlib import Path

from real_store import BUCKET, KEPT, Server

from tools.maven import java_tool

PACKAGE, VERSION = "azurite", "3.37.0"
#: The server's own account, which its documentation names.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_API = "2021-12-02"
#: Of the file with the certificate, as Java's programs have it.
_PASSWORD = "changeit"
#: The first byte of a client that speaks TLS.
_TLS = b"\x16"


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


def _certificate(folder: Path) -> Path:
    """A key and a certificate for this machine's address, for the server and for Java, which trusts it."""
    made = folder / "certificate.p12"
    named = ["-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1", "-alias", "server", "-keyalg", "RSA", "-validity", "30"]
    kept = ["-storetype", "PKCS12", "-keystore", str(made), "-storepass", _PASSWORD]
    subprocess.run([java_tool("keytool"), "-genkeypair", *named, *kept], capture_output=True, check=True)
    return made


class RealAzure(Server):
    """The server, with TLS; objects are in its memory."""

    def __init__(self, folder: Path, certificate: Path) -> None:
        super().__init__(folder, "azurite")
        self._certificate = certificate

    def command(self) -> list[str]:
        """How it is started."""
        return [
            shutil.which("node") or "node", str(program()), "--inMemoryPersistence", "--silent", "--skipApiVersionCheck",
            "--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", str(self.port),
            "--cert", str(self._certificate), "--pwd", _PASSWORD,
        ]  # fmt: skip


@contextmanager
def azure_server(folder: Path) -> Iterator[dict[str, str]]:
    """The server with one empty container; the environment of its clients."""
    certificate = _certificate(folder)
    with RealAzure(folder, certificate) as server, _way_to(server.port) as port:
        _make_container(port)
        yield {
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
            "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{port}/{ACCOUNT}",
            "JAVA_TOOL_OPTIONS": f"-Djavax.net.ssl.trustStore={certificate} -Djavax.net.ssl.trustStorePassword={_PASSWORD}",
        }


def _make_container(port: int) -> None:
    """As an administrator does it: neither obstore nor delta-rs makes one."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": _API}
    path = f"/{ACCOUNT}/{BUCKET}"
    named = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    signed = "PUT" + "\n" * 12 + f"{named}/{ACCOUNT}{path}\nrestype:container"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()).decode()
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("PUT", f"{path}?restype=container", headers={**headers, "Authorization": f"SharedKey {ACCOUNT}:{signature}"})
    answer = connection.getresponse()
    said = answer.read()
    connection.close()
    if answer.status != 201:
        raise RuntimeError(f"Azurite made no container: {answer.status} {said.decode(errors='replace')[:300]}")


@contextmanager
def _way_to(server: int) -> Iterator[int]:
    """A port for clients with TLS, which go on to the server as they are, and for clients without it."""
    with asyncio.Runner() as runner:
        port = runner.run(_listening(server))
        loop = runner.get_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        yield port
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _listening(server: int) -> int:
    """The port of the way, which is open from now on."""
    way = await asyncio.start_server(lambda reader, writer: _handed_on(server, reader, writer), "127.0.0.1", 0)
    return int(way.sockets[0].getsockname()[1])


async def _handed_on(server: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A connection, from its first byte to its end."""
    trusts_all = ssl.create_default_context()
    trusts_all.check_hostname, trusts_all.verify_mode = False, ssl.CERT_NONE
    first = await reader.read(1)
    from_server, to_server = await asyncio.open_connection("127.0.0.1", server, ssl=None if first == _TLS else trusts_all)
    to_server.write(first)
    await asyncio.gather(_poured(reader, to_server), _poured(from_server, writer), return_exceptions=True)


async def _poured(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while content := await reader.read(1 << 16):
            writer.write(content)
            await writer.drain()
    finally:
        writer.close()
