"""Answers over HTTP: the documents of `why` and `explain`, and Pulsar's own /metrics from the tables. It only reads; no Spark.

On this machine alone by default. Another address needs a token and TLS, or --insecure. One line of JSON on stdout tells of each request.
New commits of the job are in the answers within a second. It ends by SIGTERM or Ctrl-C.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.faults import BadConfig

if TYPE_CHECKING:
    from driver.http_server import Listening

EXAMPLES = """examples:
  ./spark-submit.sh serve --warehouse ./warehouse/demo
  curl 'http://127.0.0.1:8480/v1/why'
  curl http://127.0.0.1:8480/metrics
  curl -G http://127.0.0.1:8480/v1/explain --data-urlencode topic=persistent://shop/eu/orders --data-urlencode subscription=billing
  ./spark-submit.sh serve --warehouse /data/warehouse --listen 0.0.0.0:8480 --token-file token --tls-cert cert.pem --tls-key key.pem

exit: 0 stopped on request; 1 the address cannot be listened at; 2 an argument or warehouse that cannot work
"""
DEFAULT = "127.0.0.1:8480"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `serve`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--listen", default=DEFAULT, metavar="HOST:PORT", help=f"where requests come in (default: {DEFAULT})")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="its first line is the token that a request must bring as Bearer")
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="certificate, with its chain, in PEM")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key, in PEM")
    parser.add_argument("--no-topics", action="store_true", help="/metrics of namespaces, not of topics: fewer series")
    parser.add_argument("--insecure", action="store_true", help="another address than loopback without a token, or without TLS")


def run(args: argparse.Namespace) -> int:
    """Serve until asked to stop. BadConfig for an address that would be open to strangers, BadWarehouse where no warehouse is."""
    at, token = listening(args), None if args.token_file is None else token_in(args.token_file)
    from console.named_warehouse import existing_warehouse
    from driver.http_server import serve
    from pipeline.serving.access import Access
    from pipeline.serving.answers import Answers, Bounds
    from pipeline.serving.app import build_app

    warehouse = existing_warehouse(args.warehouse)
    app = Access(build_app(Answers(warehouse, Bounds()), topics=not args.no_topics), token, _log, time.monotonic)
    scheme = "http" if at.certificate is None else "https"
    host = f"[{at.host}]" if ":" in at.host else at.host
    print(f"{warehouse.root} is answered at {scheme}://{host}:{at.port}/v1/why; stop with Ctrl-C or SIGTERM", file=sys.stderr, flush=True)
    return 0 if serve(app, at) else 1


def listening(args: argparse.Namespace) -> "Listening":
    """Where to listen. Raises BadConfig for what is no address, and for one that strangers reach without token and TLS."""
    host, colon, port = args.listen.rpartition(":")
    host = host.strip("[]")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65_536:
        raise BadConfig(f"--listen {args.listen}: expected HOST:PORT, as {DEFAULT}")
    if (args.tls_cert is None) != (args.tls_key is None):
        raise BadConfig("--tls-cert and --tls-key belong together")
    for option, file in (("--tls-cert", args.tls_cert), ("--tls-key", args.tls_key)):
        if file is not None and not os.access(file, os.R_OK):
            raise BadConfig(f"{option} {file}: cannot be read")
    is_guarded = args.token_file is not None and args.tls_cert is not None
    if host not in _LOOPBACK and not is_guarded and not args.insecure:
        raise BadConfig(f"--listen {args.listen}: other machines reach it; pass --token-file and --tls-cert with --tls-key, or --insecure")
    from driver.http_server import Listening

    return Listening(host, int(port), args.tls_cert, args.tls_key)


def token_in(file: Path) -> str:
    """The first line of the file. Raises BadConfig where it cannot be read, or has no token."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise BadConfig(f"--token-file {file}: cannot be read") from fault
    if not lines or not lines[0].strip():
        raise BadConfig(f"--token-file {file}: its first line is empty")
    return lines[0].strip()


def _log(entry: dict[str, Any]) -> None:
    print(json.dumps({"at": _utc_now(), **entry}), flush=True)


def _utc_now() -> str:
    from driver.this_machine import utc_now

    return utc_now().isoformat(timespec="milliseconds")
