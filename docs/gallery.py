"""The gallery of the guide: ``python docs/gallery.py`` runs every example and keeps what it makes.

    python docs/gallery.py            # all, some minutes
    python docs/gallery.py dna        # one

``docs/figures/gallery`` gets the picture and the text of each.  Data is read from the folder that
COHMM_DATA names; where an example has to make data up for want of it, nothing is written.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
FIGURES = DOCS / "figures" / "gallery"


def main() -> None:
    """Run all examples, or those whose names are given."""
    known = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    names = sys.argv[1:] or known
    if unknown := sorted(set(names) - set(known)):
        raise SystemExit(f"there is no example {unknown[0]!r}: there are {', '.join(known)}")
    FIGURES.mkdir(exist_ok=True)
    for name in names:
        keep(name)


def keep(name: str) -> None:
    """Run one example, and keep its picture and its text."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "picture.png")
        command = [sys.executable, EXAMPLES / f"{name}.py", "--output", picture]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        if "was not found" in done.stdout:
            raise SystemExit(f"{name}: {done.stdout.splitlines()[0]}")
        (FIGURES / f"{name}.png").write_bytes(picture.read_bytes())
    (FIGURES / f"{name}.txt").write_text(done.stdout)
    print(f"{name}: {(FIGURES / f'{name}.png').stat().st_size / 1000:.0f} kB")
    print(done.stdout)


if __name__ == "__main__":
    main()
