"""Answers over HTTP: the documents of `why` and `explain`, Pulsar's own /metrics from the tables, and metrics that Pulsar lacks.

It only reads; no Spark. On this machine alone by default: another address needs a token and TLS, or --insecure. One line of JSON on stdout
tells of each request. New commits of the job are in the answers within a second. It ends by SIGTERM or Ctrl-C.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from console.address import DEFAULT, address, is_loopback, shown_url
from pipeline.faults import BadConfig

EXAMPLES = """examples:
  ./spark-submit.sh serve --warehouse ./warehouse/demo
  curl 'http://127.0.0.1:8480/v1/why'
  curl http://127.0.0.1:8480/metrics
  curl -G http://127.0.0.1:8480/metrics/clean --data-urlencode 'topic=persistent://shop/*'
  curl -G http://127.0.0.1:8480/v1/explain --data-urlencode topic=persistent://shop/eu/orders --data-urlencode subscription=billing
  ./spark-submit.sh serve --warehouse /data/warehouse --listen 0.0.0.0:8480 --token-file token --tls-cert cert.pem --tls-key key.pem

exit: 0 stopped on request; 2 an argument, address or warehouse that cannot work
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `serve`."""
    parser.add_argument("--warehouse", required=True, metavar="URI", help="folder of the Delta tables")
    parser.add_argument("--listen", default=DEFAULT, metavar="HOST:PORT", help=f"0 for PORT: any free one (default: {DEFAULT})")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="its first line is the token, brought as Bearer, or typed into the form of the page"
    )
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="certificate, with its chain, in PEM")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key, in PEM")
    parser.add_argument("--no-topics", action="store_true", help="/metrics of namespaces, not of topics: fewer series")
    parser.add_argument(
        "--series-per-metric", type=int, default=5_000, metavar="N",
        help="series of a name in /metrics/clean, the worst stay; dispatch_series_left_out counts the others (default: 5000)",
    )  # fmt: skip
    parser.add_argument("--insecure", action="store_true", help="another address than loopback without a token, or without TLS")


def run(args: argparse.Namespace) -> int:
    """Serve until asked to stop. BadConfig for a place that cannot be listened at, or is open to strangers; BadWarehouse where none is."""
    host, port = address(args.listen)
    is_guarded = args.token_file is not None and args.tls_cert is not None
    if not is_loopback(host) and not is_guarded and not args.insecure:
        raise BadConfig(f"--listen {args.listen}: other machines reach it; pass --token-file and --tls-cert with --tls-key, or --insecure")
    if (args.tls_cert is None) != (args.tls_key is None):
        raise BadConfig("--tls-cert and --tls-key belong together")
    if args.series_per_metric < 1:
        raise BadConfig(f"--series-per-metric {args.series_per_metric}: expected 1 or more")
    token = None if args.token_file is None else token_in(args.token_file)
    from console.named_warehouse import existing_warehouse
    from driver.http_server import Certificate, check_certificate, listening_socket, serve
    from driver.serving import app_of

    certificate = None if args.tls_cert is None else Certificate(args.tls_cert, args.tls_key)
    if certificate is not None:
        check_certificate(certificate)
    warehouse = existing_warehouse(args.warehouse)
    at = listening_socket(host, port)
    shown = shown_url("http" if certificate is None else "https", host, at.getsockname()[1])
    print(f"{warehouse.root} is answered at {shown}/v1/why and {shown}/metrics; stop with Ctrl-C or SIGTERM", file=sys.stderr, flush=True)
    app = app_of(warehouse, _log, token, topics=not args.no_topics, series_per_metric=args.series_per_metric)
    serve(app, at, certificate)
    return 0


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
