"""`python -m jobs.code_zip FILE`: the code and its defaults as one zip for a cluster's executors; the same code gives the same bytes."""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Folder → which files of it are shipped.
SHIPPED = {"jobs": "*.py", "pipeline": "*.py", "schemas": "*.py", "conf": "settings.toml"}
#: SQL of the views is read beside the code.
_ALSO = {"pipeline": "*.sql"}
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def write_zip(target: Path) -> None:
    """Write (or replace) `target`; it appears whole or not at all."""
    files = sorted(
        {file for patterns in (SHIPPED, _ALSO) for folder, pattern in patterns.items() for file in (ROOT / folder).rglob(pattern)}
    )
    half = target.with_suffix(".half")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.relative_to(ROOT).as_posix(), _NO_TIME), file.read_bytes(), zipfile.ZIP_DEFLATED)
    half.replace(target)


if __name__ == "__main__":
    write_zip(Path(sys.argv[1]))
