"""The folder of the demo: its own alone is deleted."""

from typing import Any

from pipeline.faults import BadConfig

#: In a warehouse that the demo made, and may delete.
MARKER = "_made_by_demo"


def make_room(warehouse: Any) -> None:
    """Delete the warehouse of an earlier demo; BadConfig if the folder is anybody else's."""
    from pipeline.store.files import files_at

    files = files_at(warehouse.root)
    marker = f"{warehouse.root}/{MARKER}"
    if files.names(warehouse.root) and not files.exists(marker):
        raise BadConfig(f"--warehouse {warehouse.root}: holds what the demo did not make; choose another folder, or remove it yourself")
    if files.exists(warehouse.lock_file):
        raise BadConfig(f"--warehouse {warehouse.root}: a demo is running there ({warehouse.lock_file}); if it died, delete the folder")
    files.delete(warehouse.root)
    files.create(marker, "made by ./spark-submit.sh demo, which deletes this folder when it runs again\n")
