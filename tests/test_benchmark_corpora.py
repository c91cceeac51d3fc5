"""OCTIS' labelled corpora and Wikipedia: parsers on small files, and what is known of the real."""

from __future__ import annotations

import io
import os
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.text_corpora import octis, wikipedia

from cohmm.datasets.data_files import MissingData

ROWS = "wheat corn\ttrain\tfarm\ngoal\tval\tsport\nmatch ball\ttest\tsport\n"
WIKI = """<doc id="1" url="?curid=1" title="Oats">
Oats

Oats are a grain.
They grow.

</doc>
<doc id="2" url="?curid=2" title="Rye &amp; co">
Rye &amp; co


</doc>
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COHMM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def pack(path: Path, contents: dict[str, str]) -> None:
    with tarfile.open(path, "w:*" if path.suffix == ".tar" else f"w:{path.suffix[1:]}") as archive:
        for name, text in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def test_parts_and_labels(folder):
    other = {"DBLP/corpus.tsv": "other\ttrain\t0\n", "M10/labels.txt": "x\n"}
    pack(folder / "octis-corpora.tar.gz", {"BBC_News/corpus.tsv": ROWS} | other)
    corpus = octis("BBC_News")
    assert corpus.texts == ("wheat corn", "goal", "match ball")
    assert corpus.labels == (("farm",), ("sport",), ("sport",))
    assert corpus.ids == ("BBC_News train 1", "BBC_News val 2", "BBC_News test 3")
    assert octis("BBC_News", "train").texts == ("wheat corn",)
    assert octis("BBC_News", "test").texts == ("goal", "match ball")
    assert octis("BBC_News", "test").name == "BBC_News test"
    with pytest.raises(ValueError, match=r"there is no M10/corpus\.tsv in it"):
        octis("M10")


def test_a_downloaded_file_and_its_faults(folder):
    (folder / "octis-M10.tsv").write_text(ROWS)
    assert len(octis("M10")) == 3
    for bad in ("wheat corn\ttrain\n", "wheat\tdev\t3\n"):
        (folder / "octis-M10.tsv").write_text(ROWS + bad)
        with pytest.raises(ValueError, match="M10, line 4: not a document, its part"):
            octis("M10")
    with pytest.raises(MissingData, match=r"octis-DBLP.tsv.* download=True to fetch https://"):
        octis("DBLP")
    with pytest.raises(ValueError, match="name must be one of BBC_News, DBLP, M10, not 'bbc'"):
        octis("bbc")
    with pytest.raises(ValueError, match="subset must be one of all, train, test, not 'val'"):
        octis("M10", "val")


def test_articles_without_their_titles(folder):
    pack(folder / "wikipedia-sample.tar.xz", {"text/AA/wiki_00": WIKI, "text/README": WIKI})
    corpus = wikipedia(min_words=4)
    assert (corpus.ids, corpus.texts) == (("Oats",), ("Oats are a grain.\nThey grow.",))
    assert corpus.labels == ((),)
    with pytest.raises(ValueError, match="there is no article of 50 words or more in it"):
        wikipedia()


def test_no_sample_of_wikipedia(folder):
    with pytest.raises(MissingData, match=r"wikipedia-sample.tar.xz was not found.* WikiExtractor"):
        wikipedia()


def test_the_real_labels():
    if not (Path(os.environ.get("COHMM_DATA", "")) / "octis-corpora.tar.gz").is_file():
        pytest.skip("COHMM_DATA names no folder with octis-corpora.tar.gz")
    sizes = {name: len(octis(name)) for name in ("BBC_News", "DBLP", "M10")}
    assert sizes == {"BBC_News": 2225, "DBLP": 54595, "M10": 8355}
    labels = Counter(octis("BBC_News").labels)
    assert labels[("sport",)] == 511
    assert len(labels) == 5
    assert len(octis("M10", "train")) == 5847
