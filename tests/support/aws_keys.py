"""What gives keys of S3 beside the environment, for tests: files of profiles, a program, Amazon's token service and metadata services."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from pipeline.store.credentials import OF_S3


def without_keys(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Take all that gives a key out of the environment; only the store's address stays. No metadata service of a real host is asked."""
    for name in OF_S3:
        if name not in ("AWS_ENDPOINT_URL", "AWS_REGION"):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))


def profile(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    """Use the profile `p`, of which the file has these lines, and no other key."""
    without_keys(monkeypatch, folder)
    (folder / "config").write_text(f"[profile p]\n{text}\n")
    monkeypatch.setenv("AWS_PROFILE", "p")


def numbered_keys(folder: Path) -> tuple[str, Path]:
    """(a line of a profile that names a program, the file that counts its keys): KEY1, KEY2 … Each is about to expire."""
    count, program = folder / "count", folder / "give-key"
    count.write_text("0")
    shown = json.dumps({"Version": 1, "AccessKeyId": "KEY@", "SecretAccessKey": "s", "SessionToken": "t", "Expiration": _in(300)})
    program.write_text(f"#!/bin/sh\nn=$(($(cat {count}) + 1))\nprintf $n > {count}\necho '{shown}' | sed s/@/$n/\n")
    program.chmod(0o755)
    return f"credential_process = {program}", count


def keys_of_the_time(folder: Path, life_s: int) -> str:
    """A line of a profile that names a program: a key is KEY and the second of its making, and expires `life_s` seconds later."""
    program = folder / "give-key"
    shown = '{"Version":1,"AccessKeyId":"KEY%s","SecretAccessKey":"s","SessionToken":"t","Expiration":"%s"}'
    program.write_text(f"#!/bin/sh\nnow=$(date +%s)\nprintf '{shown}' $now $(date -u -d @$((now + {life_s})) +%Y-%m-%dT%H:%M:%SZ)\n")
    program.chmod(0o755)
    return f"credential_process = {program}"


@contextmanager
def key_services() -> Iterator[str]:
    """The URL of what gives keys: by STS to who assumes a role (ROLE1 …), to a container (/container), to an instance."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Services)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _in(seconds: int) -> str:
    return f"{datetime.now(UTC) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


class _Services(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def do_POST(self) -> None:
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        action = asked["Action"][0]
        key = "WEB" if action == "AssumeRoleWithWebIdentity" and asked["WebIdentityToken"] == ["who I am"] else "ROLE"
        parts = {"AccessKeyId": key, "SecretAccessKey": "s", "SessionToken": "t", "Expiration": _in(3600)}
        given = "".join(f"<{name}>{value}</{name}>" for name, value in parts.items())
        self._answer(f"<{action}Response><{action}Result><Credentials>{given}</Credentials></{action}Result></{action}Response>")

    def do_PUT(self) -> None:
        self._answer("token")

    def do_GET(self) -> None:
        key = "CONTAINER" if self.path == "/container" else "INSTANCE"
        if self.path.endswith("/security-credentials/"):
            self._answer("a-role")
        else:
            given = {"Code": "Success", "AccessKeyId": key, "SecretAccessKey": "s", "Token": "t", "Expiration": _in(3600)}
            self._answer(json.dumps(given))

    def _answer(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
