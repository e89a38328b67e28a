"""A small S3 for tests: objects in memory, conditional PUT, lists, ranges, uploads in parts. It can misbehave.

It checks no signature, but tells by which key a request was signed. docs/guide/operations.md names the stores that were tried;
`./test.sh store` runs against another server.
"""

import hashlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

BUCKET = "lake"
#: What a fault may do to a request: refuse it (503), cut the connection before or after the work is done, or amid the answer, or nothing.
BUSY, CUT_BEFORE, CUT_AFTER, CUT_AMID = "busy", "cut before", "cut after", "cut amid"
Fault = Callable[[str, str], str | None]


@dataclass
class Stored:
    """An object."""

    content: bytes
    written: float

    @property
    def tag(self) -> str:
        return f'"{hashlib.md5(self.content).hexdigest()}"'


@dataclass
class S3:
    """Objects by key, requests that came ("PUT key"), keys that were listed, and a fault for each (method, key)."""

    objects: dict[str, Stored] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    ignores_conditions: bool = False
    #: Keys by which requests were signed; None: a request that was not. And whether a key is good still.
    keys: set[str | None] = field(default_factory=set)
    is_good: Callable[[str | None], bool] = lambda key: True
    #: What each request takes; others go on meanwhile.
    delay_s: float = 0
    fault: Fault = lambda method, key: None
    parts: dict[str, dict[int, bytes]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    port: int = 0
    clock: Callable[[], float] = lambda: 1_796_000_000.0

    def environment(self) -> dict[str, str]:
        """What clients need; the key is a dummy, so that none asks the network for one."""
        return {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
        }


@contextmanager
def s3_server(s3: S3) -> Iterator[S3]:
    """Serve the objects on a free port."""
    server = QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"s3": s3}))
    s3.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield s3
    finally:
        server.shutdown()
        server.server_close()


class QuietServer(ThreadingHTTPServer):
    """Clients begin thirty connections at once. One that finds no room to wait would begin again after a second."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone, or was killed, is no fault."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class QuietHandler(BaseHTTPRequestHandler):
    """What servers of tests have in common: they keep connections open, answer at once, and print nothing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    #: Head and body go out together: who holds Python's lock while it waits for the body would wait for this thread.
    wbufsize = 1 << 20

    def handle_expect_100(self) -> bool:
        """Java's client waits for it before it sends a body."""
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def log_message(self, *_: Any) -> None:
        """Whoever wants to know counts."""

    def answer(self, headers: Iterable[tuple[str, str]], content: bytes) -> None:
        """Send the headers and, unless only these were asked for, the content. The status is sent before."""
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            try:
                self.wfile.write(content)
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):  # who asked has seen enough
                self.close_connection = True


class _Handler(QuietHandler):
    s3: S3

    def do_GET(self) -> None:
        self._handle(self._get)

    def do_HEAD(self) -> None:
        self._handle(self._get)

    def do_PUT(self) -> None:
        self._handle(self._put)

    def do_POST(self) -> None:
        self._handle(self._post)

    def do_DELETE(self) -> None:
        self._handle(self._delete)

    def _handle(self, work: Callable[[str, dict[str, str], bytes], tuple[int, dict[str, str], bytes]]) -> None:
        url = urlsplit(self.path)
        key = unquote(url.path).lstrip("/").removeprefix(BUCKET).lstrip("/")
        asked = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if (self.headers.get("x-amz-content-sha256") or "").startswith("STREAMING-"):
            body = joined(body)
        time.sleep(self.s3.delay_s)
        with self.s3.lock:
            self.s3.requests.append(f"{self.command} {key}" if key or self.command != "GET" else f"LIST {asked.get('prefix', '')}")
            fault = self.s3.fault(self.command, key)
            if fault == CUT_BEFORE:
                self._cut()
                return
            signed_by = self._signed_by()
            self.s3.keys.add(signed_by)
            if fault == BUSY:
                answer: tuple[int, dict[str, str], bytes] = 503, {}, _error("SlowDown")
            elif not self.s3.is_good(signed_by):
                answer = 403, {}, _error("ExpiredToken")
            else:
                answer = work(key, asked, body)
        if fault == CUT_AFTER:
            self._cut()
            return
        status, headers, content = answer
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(content)))
        self.answer(headers.items(), content[: len(content) // 2] if fault == CUT_AMID else content)
        if fault == CUT_AMID:
            self._cut()

    def _signed_by(self) -> str | None:
        found = re.search(r"Credential=([^/]+)/", self.headers.get("Authorization") or "")
        return found and found[1]

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(2)

    def _get(self, key: str, asked: dict[str, str], _: bytes) -> tuple[int, dict[str, str], bytes]:
        if not key:
            return 200, {"Content-Type": "application/xml"}, self._listing(asked)
        stored = self.s3.objects.get(key)
        if stored is None:
            return 404, {}, _error("NoSuchKey")
        headers = {"ETag": stored.tag, "Last-Modified": formatdate(stored.written, usegmt=True), "Accept-Ranges": "bytes"}
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or "")
        content, size = stored.content, len(stored.content)
        if wanted is None:
            return 200, headers | {"Content-Length": str(size)}, content
        first = int(wanted[1]) if wanted[1] else max(0, size - int(wanted[2]))
        last = min(size - 1, int(wanted[2])) if wanted[1] and wanted[2] else size - 1
        if first > last:
            return 416, {}, _error("InvalidRange")
        part = content[first : last + 1]
        return 206, headers | {"Content-Range": f"bytes {first}-{last}/{size}", "Content-Length": str(len(part))}, part

    def _put(self, key: str, asked: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        if "partNumber" in asked:
            self.s3.parts[asked["uploadId"]][int(asked["partNumber"])] = body
            return 200, {"ETag": f'"{asked["partNumber"]}"'}, b""
        stored = self.s3.objects.get(key)
        if self.headers.get("If-None-Match") == "*" and stored is not None and not self.s3.ignores_conditions:
            return 412, {}, _error("PreconditionFailed")
        if (
            self.headers.get("If-Match") is not None
            and not self.s3.ignores_conditions
            and (stored is None or stored.tag != self.headers["If-Match"])
        ):
            return (412, {}, _error("PreconditionFailed")) if stored else (404, {}, _error("NoSuchKey"))
        source = self.headers.get("x-amz-copy-source")
        if source is not None:
            body = self.s3.objects[unquote(source).lstrip("/").removeprefix(BUCKET).lstrip("/")].content
        self._store(key, body)
        tag = self.s3.objects[key].tag
        return 200, {"ETag": tag}, f"<CopyObjectResult><ETag>{escape(tag)}</ETag></CopyObjectResult>".encode() if source else b""

    def _post(self, key: str, asked: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        if "delete" in asked:
            keys = [unescape(found.decode()) for found in re.findall(rb"<Key>(.*?)</Key>", body)]
            for one in keys:
                self.s3.objects.pop(one, None)
            deleted = "".join(f"<Deleted><Key>{escape(one)}</Key></Deleted>" for one in keys)
            return 200, {}, f"<DeleteResult>{deleted}</DeleteResult>".encode()
        if "uploads" in asked:
            upload = str(len(self.s3.parts) + 1)
            self.s3.parts[upload] = {}
            return 200, {}, f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>".encode()
        parts = self.s3.parts[asked["uploadId"]]
        self._store(key, b"".join(parts[number] for number in sorted(parts)))
        tag = escape(self.s3.objects[key].tag)
        return 200, {}, f"<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>".encode()

    def _delete(self, key: str, _: dict[str, str], __: bytes) -> tuple[int, dict[str, str], bytes]:
        self.s3.objects.pop(key, None)
        return 204, {}, b""

    def _store(self, key: str, content: bytes) -> None:
        self.s3.objects[key] = Stored(content, self.s3.clock())

    def _listing(self, asked: dict[str, str]) -> bytes:
        prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter", "")
        after = asked.get("continuation-token") or asked.get("start-after") or ""
        most = int(asked.get("max-keys") or 1000)
        found: list[str] = []
        folders: list[str] = []
        token = ""
        for key in sorted(self.s3.objects):
            if not key.startswith(prefix) or key <= after:
                continue
            below = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            name = prefix + below[0] + delimiter if below[1] else None
            if name is not None and (name in folders or (after and name <= after)):
                continue
            if len(found) + len(folders) == most:
                token = (found + folders)[-1] if not folders else max(found[-1:] + folders[-1:])
                break
            (found if name is None else folders).append(key if name is None else name)
        text = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-28T00:00:00.000Z</LastModified>"
            f"<ETag>{escape(self.s3.objects[key].tag)}</ETag><Size>{len(self.s3.objects[key].content)}</Size></Contents>"
            for key in found
        ) + "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders)
        self.s3.listed += found
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{escape(token)}</NextContinuationToken>" if token else ""
        return (
            f"<ListBucketResult><Name>{BUCKET}</Name><KeyCount>{len(found) + len(folders)}</KeyCount>"
            f"{more or '<IsTruncated>false</IsTruncated>'}{text}</ListBucketResult>"
        ).encode()


def joined(chunks: bytes) -> bytes:
    """A body that came in signed chunks: each has its length in hexadecimal digits before it; one of none is the last."""
    body, at = b"", 0
    while True:
        end = chunks.index(b"\r\n", at)
        size = int(chunks[at:end].partition(b";")[0], 16)
        if size == 0:
            return body
        body += chunks[end + 2 : end + 2 + size]
        at = end + 2 + size + 2


def _error(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
