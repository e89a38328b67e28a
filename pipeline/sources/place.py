"""`--events` to what Spark lists and which of the listed files are meant: a folder, a file, or a glob, also with `**`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.faults import BadConfig, BadWarehouse
from pipeline.store.files import files_at
from pipeline.store.small_files import SmallFiles

_GLOB = "*?[]{}"
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
#: What is in brackets is one token; everything that has no meaning is a token of one character.
_TOKENS = re.compile(r"\*\*/|\*\*|\[[!^]?[^\]]+\]|.", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """`load`: path or Hadoop glob for Spark, read recursively. `wanted`: regular expression over a file's whole path (`file:/a b/c`).

    `begin`: URI of the file or folder that has all wanted files in it, `glob`: what Hadoop expands below it, empty if nothing.
    `local`: the files are on this machine's file system.
    """

    load: str
    wanted: str
    begin: str
    glob: str
    local: bool

    def refuse_vanished(self, paths: Iterable[str]) -> None:
        """Raise BadWarehouse if one of `paths` is wanted and is not there."""
        # What is not wanted (a file with another name until it is complete) is listed, too, and goes as it likes.
        for path in sorted(path for path in paths if re.match(self.wanted, path)):
            if not files_at(path).exists(path):
                raise vanished(path)


def vanished(path: str) -> BadWarehouse:
    """A file was to be read, and is gone."""
    return BadWarehouse(
        f"{path} was taken up to be read and is gone. Put it back and start again. If it is lost, `load` reads all others without it; "
        "before `stream` put a file with one empty line there. log_gaps then shows which events are missing"
    )


def find_place(files: SmallFiles, events: str, suffixes: tuple[str, ...]) -> Place:
    """The place that `events` names. In a folder, files with one of `suffixes` are wanted; a file, or what a glob matches, is wanted as is.

    Raises BadConfig if the folder does not exist, or the folder before the first `**` of a glob.
    """
    ending = "(?:" + "|".join(_quoted(suffix) for suffix in suffixes) + ")"
    # Looked for first: a folder whose name has a bracket in it is a folder.
    if files.exists(events):
        whole = files.absolute(events)
        below = f"/.*{ending}" if files.is_folder(events) else ""
        return Place(_escaped(events), f"^{_quoted(whole.rstrip('/'))}{below}$", whole, "", _is_local(whole))
    if not is_glob(events):
        raise BadConfig(
            f"--events {events}: there is no such file or folder; name an existing one, or a glob such as '{events}/**/*.jsonl'"
        )
    folder, glob = _split(files, events)
    whole = files.absolute(folder)
    wanted = f"^{_quoted(whole.rstrip('/'))}/{_translated(glob)}(?:/.*{ending})?$"
    if "**" not in glob:
        return Place(f"{_escaped(folder.rstrip('/'))}/{glob}", wanted, whole, glob, _is_local(whole))
    if not files.exists(folder):
        raise BadConfig(f"--events {events}: the folder {folder} before the first wildcard does not exist")
    return Place(_escaped(folder), wanted, whole, "", _is_local(whole))


def _is_local(whole: str) -> bool:
    return whole.startswith("file:")


def is_glob(events: str) -> bool:
    """Whether the path has wildcards in it."""
    return any(character in _GLOB for character in events)


def _split(files: SmallFiles, events: str) -> tuple[str, str]:
    """The folder before the first wildcard, and the rest: `s3a://b/a/x*/c` → `s3a://b/a/`, `x*/c`. What exists is no wildcard."""
    first = min(events.index(character) for character in _GLOB if character in events)
    cut = events.rfind("/", 0, first) + 1
    while (end := events.find("/", cut)) > 0 and files.exists(events[:end]):
        cut = end + 1
    return events[:cut] or ".", events[cut:]


def _escaped(path: str) -> str:
    """`path` so that Hadoop's glob takes it literally."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def _quoted(text: str) -> str:
    """`text` literally, in a regular expression of Java."""
    return re.sub(r"([^\w\s/:%-])", r"\\\1", text)


def _translated(glob: str) -> str:
    """A glob without leading slash as a regular expression of Java; `**/` also stands for no folder at all."""
    pattern, open_braces = "", 0
    for token in _TOKENS.findall(glob):
        if token in _MEANINGS:
            pattern += _MEANINGS[token]
        elif token == "{":
            pattern, open_braces = f"{pattern}(?:", open_braces + 1
        elif token == "}" and open_braces:
            pattern, open_braces = f"{pattern})", open_braces - 1
        elif token == "," and open_braces:
            pattern += "|"
        elif len(token) > 1:
            inside = token[1:-1].replace("\\", "\\\\")
            pattern += f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]"
        else:
            pattern += _quoted(token)
    return pattern
