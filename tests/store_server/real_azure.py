"""A server of Azure's blobs (Azurite) on this machine, which npm fetches once, and a proxy before it.

Azurite lacks Azure's second protocol (DFS). It lists folders before files. Azure lists all in one order, and Hadoop's connector relies on
that: the proxy sorts the lists. The connector speaks TLS, and trusts a certificate by Java's options. Other clients have no such option:
they speak without TLS to the same port.
"""

import base64
import hashlib
import hmac
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import unescape

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
from proxy import ProxyHandler, proxy_before
from real_store import BUCKET, KEPT, Server

from tools.maven import java_tool

PACKAGE, VERSION = "azurite", "3.37.0"
#: The server's own account, which its documentation names.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_API = "2021-12-02"
#: Of the file with the certificate, as Java's programs have it.
_PASSWORD = "changeit"


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


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A key and a certificate for this machine's address: a file for Java, which trusts it, and one for the proxy."""
    of_java, of_proxy = folder / "certificate.p12", folder / "certificate.pem"
    named = ["-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1", "-alias", "proxy", "-keyalg", "RSA", "-validity", "30"]
    kept = ["-storetype", "PKCS12", "-keystore", str(of_java), "-storepass", _PASSWORD]
    subprocess.run([java_tool("keytool"), "-genkeypair", *named, *kept], capture_output=True, check=True)
    key, certificate, _ = pkcs12.load_key_and_certificates(of_java.read_bytes(), _PASSWORD.encode())
    assert key is not None
    assert certificate is not None
    of_proxy.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + certificate.public_bytes(Encoding.PEM))
    return of_java, of_proxy


class RealAzure(Server):
    """The server; objects are in its memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "azurite")

    def command(self) -> list[str]:
        """How it is started."""
        return [
            shutil.which("node") or "node", str(program()), "--inMemoryPersistence", "--silent", "--skipApiVersionCheck",
            "--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", str(self.port),
        ]  # fmt: skip


@contextmanager
def azure_server(folder: Path) -> Iterator[dict[str, str]]:
    """The server with one empty container; the environment of its clients."""
    of_java, of_proxy = _certificate(folder)
    with RealAzure(folder) as server, proxy_before(server.port, _Azure, certificate=of_proxy) as port:
        _make_container(server.port)
        yield {
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
            "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{port}/{ACCOUNT}",
            "JAVA_TOOL_OPTIONS": f"-Djavax.net.ssl.trustStore={of_java} -Djavax.net.ssl.trustStorePassword={_PASSWORD}",
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


class _Azure(ProxyHandler):
    def serve(self) -> None:
        """Any request."""
        answer = self.asked(self.command, self.path, self.body(), self.headers_handed_on())
        content, is_list = answer.read(), parse_qs(urlsplit(self.path).query).get("comp") == ["list"]
        self.hand_on(answer, _in_order(content) if is_list else content)


def _in_order(listing: bytes) -> bytes:
    """A list whose files and folders are sorted by their names."""

    def in_order(entries: re.Match[bytes]) -> bytes:
        return b"".join(sorted(re.findall(rb"<Blob>.*?</Blob>|<BlobPrefix>.*?</BlobPrefix>", entries[0], flags=re.DOTALL), key=_name))

    return re.sub(rb"(?<=<Blobs>).*(?=</Blobs>)", in_order, listing, flags=re.DOTALL)


def _name(entry: bytes) -> str:
    return unescape(entry.partition(b"<Name>")[2].partition(b"</Name>")[0].decode())
