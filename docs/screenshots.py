"""Pictures of reports for the docs.

    python docs/screenshots.py                   report-{demo,reuters}-{desktop,phone}.png
    python docs/screenshots.py demo              those of one report
    python docs/screenshots.py --all FOLDER      every section, light and dark, to look at

The demo is made anew by ``cohmm demo``.  Reuters-21578 is read from the folder that COHMM_DATA
names, and learned with 20 topics.  Chromium must be there, and the extra ``dev`` of the package.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parent / "figures"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
# What the pictures in the docs show: parts of the page, from top to bottom.
PARTS = {
    ("demo", "desktop"): ("overview", "documents"),
    ("demo", "phone"): ("documents",),
    ("reuters", "desktop"): ("overview", "transitions"),
    ("reuters", "phone"): ("transitions",),
}
LEFT_OUT = "h1, footer, .top, #strongest, #strongest-head"
MOST = {"desktop": 2000, "phone": 1700}  # pixels from top to bottom
SECTIONS = ("overview", "topics", "transitions", "documents", "order", "trust", "summary")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def main() -> None:
    """Make the reports that are asked for, and their pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reports", nargs="*", metavar="demo|reuters", help="default: both")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every section, to look at")
    given = parser.parse_args()
    wrong = sorted(set(given.reports) - {"demo", "reuters"})
    if wrong:
        parser.error(f"there is no report {wrong[0]!r}: there are demo and reuters")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.reports or ["demo", "reuters"]:
            shoot(name, {"demo": demo, "reuters": reuters}[name](Path(folder)), given.all)


def demo(folder: Path) -> Path:
    """The report of the demo."""
    command = [sys.executable, "-c", "from cohmm.cli import main; main()", "demo"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "cohmm-demo" / "report.html"


def reuters(folder: Path) -> Path:
    """A report of Reuters-21578."""
    from cohmm import HTMM
    from cohmm.datasets.corpora import reuters_documents

    texts = reuters_documents()
    model = HTMM(20, stop_words="english", min_df=5, random_state=0).fit(texts)
    model.report(folder / "reuters.html", texts, title="Reuters-21578, 20 topics")
    return folder / "reuters.html"


def shoot(name: str, report: Path, folder: Path | None) -> None:
    """Pictures of a report: those of the docs, or of every section."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("there is no Chromium (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for width in SIZES:
            if folder is None:
                to = FIGURES / f"report-{name}-{width}.png"
                picture(browser, report, width, PARTS[name, width], to, LEFT_OUT)
                continue
            folder.mkdir(parents=True, exist_ok=True)
            for part in SECTIONS:
                for mode in ("light", "dark"):
                    to = folder / f"{name}-{width}-{part}-{mode}.png"
                    picture(browser, report, width, (part,), to, mode=mode)
        browser.close()


def picture(
    browser: Any,
    report: Path,
    width: str,
    parts: tuple[str, ...],
    to: Path,
    left_out: str = "",
    mode: str = "light",
) -> None:
    """One file with some sections of the page."""
    from PIL import Image

    across, down = SIZES[width]
    page = browser.new_page(
        viewport={"width": across, "height": down},
        color_scheme=mode,
        bypass_csp=True,  # styles from outside are against the page's own policy
    )
    page.goto(report.as_uri())
    hidden = ", ".join([*(f"#{part}" for part in SECTIONS if part not in parts), "footer"])
    hidden += f", {left_out}" if left_out else ""
    page.add_style_tag(content=f"{hidden} {{ display: none !important; }}")
    if left_out:  # then it has an end
        height = min(page.evaluate("document.documentElement.scrollHeight"), MOST[width])
        clip = {"x": 0, "y": 0, "width": across, "height": height}
        page.screenshot(path=to, full_page=True, clip=clip)
    else:
        page.screenshot(path=to, full_page=True)
    page.close()
    with Image.open(to) as image:
        plain = image.convert("RGB")
    few_colours(plain).save(to, optimize=True)
    print(f"{to}: {to.stat().st_size / 1000:.0f} kB")


def few_colours(picture: Any) -> Any:
    """The 256 most frequent colours, exactly: the others are at the edges of letters."""
    import numpy as np
    from PIL import Image
    from scipy.spatial import cKDTree

    pixels = np.asarray(picture)
    colours, place, counts = np.unique(
        pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    kept = colours[np.argsort(-counts, kind="stable")[:256]]
    nearest = cKDTree(kept).query(colours)[1].astype(np.uint8)
    few = Image.fromarray(nearest[place.reshape(pixels.shape[:2])], "P")
    few.putpalette(kept.astype(np.uint8).tobytes())
    return few


if __name__ == "__main__":
    main()
