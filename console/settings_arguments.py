"""--settings and --set, of every command that has settings."""

import argparse
from pathlib import Path


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare --settings and --set."""
    parser.add_argument("--settings", type=Path, metavar="FILE", help="TOML with any part of conf/settings.toml, in place of its values")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="overrides",
        help="one setting, as lanes.lateness_ms=5000; repeatable",
    )
