"""A server of Google's protocol (fake-gcs-server) on this machine, which Go makes once out of the module proxy, and a proxy before it.

Google has two protocols for the same objects: JSON, which Arrow and Google's Java speak, and XML, which obstore and delta-rs speak. The
server lacks uploads by XML: the proxy turns them into uploads by JSON, conditions included. What is sent in parts is refused. And it
lists by XML from the first key on: the proxy leaves out what comes before `start-after`.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import unescape

from proxy import ProxyHandler, proxy_before
from real_store import BUCKET, Server, free_port, made_by_go

MODULE, VERSION = "github.com/fsouza/fake-gcs-server", "v1.56.1"


class RealGcs(Server):
    """The server; it has one empty bucket, and objects are in its memory. `public` is the port that clients use."""

    def __init__(self, folder: Path, public: int) -> None:
        super().__init__(folder, "fake-gcs-server")
        self._public = f"127.0.0.1:{public}"

    def command(self) -> list[str]:
        """How it is started."""
        seed = self._log.parent / "buckets"
        (seed / BUCKET).mkdir(parents=True)
        return [
            str(made_by_go(MODULE, VERSION)), "-backend", "memory", "-data", str(seed), "-scheme", "http", "-host", "127.0.0.1",
            "-port", str(self.port), "-public-host", self._public, "-external-url", f"http://{self._public}", "-log-level", "warn",
        ]  # fmt: skip


@contextmanager
def gcs_server(folder: Path) -> Iterator[str]:
    """The server; HOST:PORT of the proxy."""
    public = free_port()
    with RealGcs(folder, public) as server, proxy_before(server.port, _Gcs, public):
        yield f"127.0.0.1:{public}"


class _Gcs(ProxyHandler):
    def serve(self) -> None:
        """Any request."""
        body = self.body()
        url = urlsplit(self.path)
        if self.command in ("PUT", "POST") and url.path.startswith(f"/{BUCKET}/"):
            self._upload(unquote(url.path).removeprefix(f"/{BUCKET}/"), url.query, body)
            return
        answer = self.asked(self.command, self.path, body, self.headers_handed_on())
        content, after = answer.read(), parse_qs(url.query).get("start-after")
        self.hand_on(answer, content if after is None else _listed_after(after[0], content))

    def _upload(self, key: str, query: str, body: bytes) -> None:
        if self.command != "PUT" or query:
            self.send_response_only(501)
            self.answer([("Content-Length", "0")], b"")
            return
        condition = self.headers.get("x-goog-if-generation-match")
        more = f"&ifGenerationMatch={condition}" if condition is not None else ""
        path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={quote(key, safe='')}{more}"
        answer = self.asked("POST", path, body, self.headers_handed_on())
        content = answer.read()
        if answer.status != 200:
            self.hand_on(answer, content)
            return
        about = json.loads(content)
        self.send_response_only(200)
        self.answer([("ETag", about["etag"]), ("x-goog-generation", about["generation"]), ("Content-Length", "0")], b"")


def _listed_after(key: str, listing: bytes) -> bytes:
    """A list without the keys up to this one."""

    def kept(entry: re.Match[bytes]) -> bytes:
        return entry[0] if unescape(entry[1].decode()) > key else b""

    return re.sub(rb"<Contents><Key>(.*?)</Key>.*?</Contents>", kept, listing, flags=re.DOTALL)
