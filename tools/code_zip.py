"""`python -m tools.code_zip FOLDER`: what executors of a cluster need of us, as one archive in FOLDER; prints its path.

The code with its defaults, and the compiled rules. The same content gives the same bytes and the same name. So a job that runs never finds
another version under the name that it gave to its executors.
"""

import hashlib
import os
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools import CODE
from tools.compiled_rules import UNUSED_AFTER_DAYS
from tools.shipped_rules import rules_to_ship

ROOT = Path(__file__).parent.parent
#: Folder → which files of it are shipped.
SHIPPED = {**dict.fromkeys(CODE, "*.py"), "conf": "settings.toml"}
#: SQL of the views is read beside the code.
_ALSO = {"pipeline": "*.sql"}
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_DAY_S = 86_400


def write_archive(folder: Path, cache_parent: str, now_s: float) -> Path:
    """Write the archive unless it is there; it appears whole or not at all. Archives of other versions go when nobody used them lately.

    `cache_parent` is NUMBA_CACHE_DIR, `now_s` seconds since the Unix epoch.
    """
    files = {**dict(_code()), **dict(rules_to_ship(cache_parent))}
    if not any(name.endswith(".nbc") for name in files):
        print(f"WARNING: no compiled rules in {cache_parent}: every executor will compile them, for minutes", file=sys.stderr)
    content = {name: file.read_bytes() for name, file in sorted(files.items())}
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{_fingerprint(content)}.zip"
    if not target.exists():
        half = folder / f"{target.name}.{os.getpid()}.half"
        _write_zip(half, content)
        half.replace(target)
    os.utime(target, (now_s, now_s))
    _remove_unused(folder, now_s)
    return target


def _remove_unused(folder: Path, now_s: float) -> None:
    for file in folder.iterdir():
        try:
            if now_s - file.stat().st_mtime > UNUSED_AFTER_DAYS * _DAY_S:
                file.unlink()
        except FileNotFoundError:
            continue  # another process removes it, too


def _code() -> Iterator[tuple[str, Path]]:
    for patterns in (SHIPPED, _ALSO):
        for folder, pattern in patterns.items():
            for file in (ROOT / folder).rglob(pattern):
                yield file.relative_to(ROOT).as_posix(), file


def _fingerprint(content: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in content.items():
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()[:16]


def _write_zip(target: Path, content: dict[str, bytes]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_TIME), data, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    print(write_archive(Path(sys.argv[1]), os.environ.get("NUMBA_CACHE_DIR", ""), time.time()))
