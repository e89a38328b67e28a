"""What a run did, in words: everything that went in came out somewhere."""

from collections.abc import Iterator, Mapping

#: Counts of batch_manifest by query.
Books = Mapping[str, Mapping[str, int]]


def growth_words(files: int) -> str:
    """A warning for files that are longer now than they were read."""
    return f"WARNING: {files} files grew after they were read; their new lines are in no table: see ingest_files, fault = 'grew'"


def lines_of(books: Books) -> Iterator[str]:
    """A line for each query that did anything."""
    if "ingest" in books:
        sums = books["ingest"]
        yield f"ingest: {sums['rows_in']:,} lines = {sums['bronze']:,} events + {sums['quarantined']:,} quarantined"
    if "lanes" in books:
        sums = books["lanes"]
        yield (
            f"lanes:  {sums['rows_in']:,} in = {sums['applied']:,} applied + {sums['duplicates']:,} duplicate + {sums['late']:,} late"
            f" + {sums['quarantined']:,} quarantined + {sums['held']:,} held; {sums['lost']:,} lost"
        )
    if not books:
        yield "nothing new to read"
