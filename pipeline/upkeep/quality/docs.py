"""The folder of Data Docs: replaced as a whole by every run, and never anything else."""

import shutil
from pathlib import Path

from pipeline.faults import BadConfig

#: What Data Docs consist of.
PARTS = {"index.html", "expectations", "validations", "static"}


def check_docs_folder(folder: Path) -> None:
    """Raise BadConfig unless the folder is free for Data Docs: not there, empty, or with those of an earlier run alone."""
    if folder.exists() and not folder.is_dir():
        raise BadConfig(f"--docs {folder}: is a file; name a folder")
    strange = sorted(entry.name for entry in folder.iterdir() if entry.name not in PARTS) if folder.exists() else []
    if strange:
        raise BadConfig(f"--docs {folder}: holds {strange[0]}, which is no part of Data Docs; the folder is replaced, so name another one")


def clear_docs_folder(folder: Path) -> None:
    """Remove the Data Docs of an earlier run: its pages would stay beside the new ones, with nothing that leads to them."""
    check_docs_folder(folder)
    if folder.exists():
        shutil.rmtree(folder)
