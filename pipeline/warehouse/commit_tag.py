"""The tag that each commit of ours leaves in a table's log (`userMetadata`), and versions of a table that lack it: somebody else's."""

from collections.abc import Sequence

from deltalake import CommitProperties, Transaction

from pipeline.store.commit import Commit

TAG = "dispatch-analytics"
#: delta-rs tries a commit so often when others commit at the same time.
ATTEMPTS = 20


def tagged(transactions: Sequence[Transaction] | None = None) -> CommitProperties:
    """What delta-rs writes into the log beside a commit of ours; `transactions` as in Delta's exactly-once appends."""
    return CommitProperties(
        custom_metadata={"userMetadata": TAG},
        max_commit_retries=ATTEMPTS,
        app_transactions=None if transactions is None else list(transactions),
    )


def foreign(commits: Sequence[Commit]) -> list[Commit]:
    """Of a table's commits, newest first, those that are not ours; newest first.

    Commits before the first tagged one are of a version of this project that left no tag: nobody can judge them.
    """
    first = max((place for place, commit in enumerate(commits) if commit.tag == TAG), default=0)
    return [commit for commit in commits[:first] if commit.tag != TAG]
