"""What lay there when a micro-batch was run first: run again, Spark lists its files with the lengths that they have by then."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pipeline.sources.source import FirstListed, Listing
from pipeline.store.files import files_at
from pipeline.store.small_files import SmallFiles

#: A text that lacks it was cut by a crash; nothing was read by it yet.
_END = "\n"


def first_listed(checkpoint: str, batch_id: int, over: Callable[[str], None] | None = None) -> FirstListed:
    """A function for micro-batch `batch_id`: it keeps the text of the first run in the checkpoint, and returns it in every run.

    What was kept for the micro-batch before, or for an earlier one if that read nothing, is given to `over`, and deleted: Spark has
    committed that one.
    """
    files = files_at(checkpoint)
    folder = f"{checkpoint}/listed"

    def listed(listing: Listing) -> str | None:
        number, before = _newest_before(files, folder, batch_id)
        kept = files.read(f"{folder}/{batch_id}")
        if kept is None or not kept.endswith(_END):
            text = listing(before)
            if text is None:
                return None
            kept = text + _END
            files.write(f"{folder}/{batch_id}", kept)
        if before is not None:
            if over is not None:
                over(before)
            files.delete(f"{folder}/{number}")
        return kept.removesuffix(_END)

    return listed


def _newest_before(files: SmallFiles, folder: str, batch_id: int) -> tuple[int, str | None]:
    """(number, text) of the newest micro-batch before `batch_id` that has one. Mostly it is the one just before."""
    with ThreadPoolExecutor(1) as thread:
        listed = thread.submit(files.names, folder)
        found = files.read(f"{folder}/{batch_id - 1}")
        if found is not None:
            return batch_id - 1, found.removesuffix(_END)
        earlier = [int(name) for name in listed.result() if name.isdigit() and int(name) < batch_id]
    number = max(earlier, default=-1)
    text = files.read(f"{folder}/{number}") if earlier else None
    return number, None if text is None else text.removesuffix(_END)
