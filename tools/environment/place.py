"""Where the environment lies, and how a part of it is known to be complete: by a stamp, which is written last."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class SetUpFailed(Exception):
    """The environment cannot be made; the message is one line that names what to do."""


@dataclass(frozen=True)
class Place:
    """The folders of an environment. `root` is the project's."""

    root: Path = ROOT

    @property
    def venv(self) -> Path:
        """The virtual environment, with everything else that set-up makes in it."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where its packages are."""
        (folder,) = (self.venv / "lib").glob("python3.*/site-packages")
        return folder

    @property
    def lock_file(self) -> Path:
        """Held by the one process that sets up. Beside .venv, which may be made anew."""
        return self.root / ".venv-set-up.lock"

    def requirements(self, name: str) -> Path:
        """A file of requirements/."""
        return self.root / "requirements" / name

    def log(self, name: str) -> Path:
        """What a tool printed while it made a part."""
        return self.venv / f"set-up-{name}.log"

    def is_stamped(self, part: str, content: str) -> bool:
        """Whether a part was made of exactly this."""
        try:
            return self._stamp(part).read_text(encoding="utf-8") == content
        except FileNotFoundError:
            return False

    def stamp(self, part: str, content: str) -> None:
        """Note that a part is complete."""
        self._stamp(part).write_text(content, encoding="utf-8")

    def forget(self, part: str) -> None:
        """Note that a part is not complete: it is about to change."""
        self._stamp(part).unlink(missing_ok=True)

    def _stamp(self, part: str) -> Path:
        return self.venv / f"{part}.stamp"


def digest(*files: Path) -> str:
    """A hash of the files' contents."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()
