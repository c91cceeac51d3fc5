"""Put what an experiment found into docs/experiments.md.

    cohmm reproduce all
    python experiments/into_docs.py cohmm-experiments

Between ``<!-- NAME -->`` and ``<!-- /NAME -->`` the page gets the figure and the tables of
NAME; the figure is copied to docs/figures.  Experiments that were not run stay as they are.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "experiments.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where cohmm reproduce wrote to")
    parser.add_argument("--page", type=Path, default=PAGE)
    arguments = parser.parse_args()
    text, found = filled(arguments.page.read_text(), arguments.folder)
    if not found:
        parser.error(f"{arguments.folder} has no table that {arguments.page} asks for")
    figures = arguments.page.parent / "figures"
    figures.mkdir(exist_ok=True)
    for name in found:
        shutil.copyfile(arguments.folder / f"{name}.png", figures / f"{name}.png")
    arguments.page.write_text(text)
    print(f"{arguments.page}: {', '.join(found)}")


def filled(page: str, folder: Path) -> tuple[str, list[str]]:
    """The page with the tables of a folder, and the names of the experiments it got them for."""
    found = []

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        table = folder / f"{name}.md"
        if not table.is_file():
            return match[0]
        found.append(name)
        figure = f"![{name}](figures/{name}.png)"
        return f"<!-- {name} -->\n\n{figure}\n\n{table.read_text()}\n<!-- /{name} -->"

    return re.sub(r"<!-- ([\w-]+) -->.*?<!-- /\1 -->", fill, page, flags=re.DOTALL), found


if __name__ == "__main__":
    main()
