"""What lay there when a micro-batch was run first: run again, Spark lists its files with the lengths that they have by then."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pipeline.store.files import files_at

#: A text that lacks it was cut by a crash; nothing was read by it yet.
_END = "\n"


def first_listed(checkpoint: str, batch_id: int, over: Callable[[str], None] | None = None) -> Callable[[str], str]:
    """A function for micro-batch `batch_id`: it keeps the `text` of the first run in the checkpoint, and returns it in every run.

    `text` has one line. What was kept for the micro-batch before is given to `over`, and deleted: Spark has committed that one.
    """
    files = files_at(checkpoint)
    folder = f"{checkpoint}/listed"

    def listed(text: str) -> str:
        before = f"{folder}/{batch_id - 1}"
        if over is not None and (listing := files.read(before)) is not None:
            over(listing)
        with ThreadPoolExecutor(1) as thread:
            deleted = thread.submit(files.delete, before)
            kept = files.read(f"{folder}/{batch_id}")
            if kept is None or not kept.endswith(_END):
                kept = text + _END
                files.write(f"{folder}/{batch_id}", kept)
            deleted.result()
        return kept.removesuffix(_END)

    return listed
