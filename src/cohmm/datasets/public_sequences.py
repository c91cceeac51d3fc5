"""Public sequences: tagged sentences of the Brown corpus, visits to a news site, genomes."""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.datasets.data_files import DataFile, decode

BROWN = DataFile(
    "brown.zip",
    "brown.zip",
    "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/brown.zip",
    "9b275f9b3b95d7bd66ccfb7cd259f445a13bbe5d1f4107aba09fd3e8364bafa6",
)
BROWN_FILE = re.compile(r"brown/c[a-r]\d\d")
MSNBC = DataFile(
    "msnbc.tar.gz",
    "msnbc990928.seq.gz",
    "https://archive.ics.uci.edu/ml/machine-learning-databases/msnbc-mld/msnbc990928.seq.gz",
)
CATEGORIES_LINE = 2  # of the visits' header, from 0
HEADER_LINES = 7
Species = Literal["chlamydia", "ecoli", "lambda"]
NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi?db=nuccore&rettype=fasta&id="
GENOMES = {
    "chlamydia": DataFile(
        "dna.tar.gz",
        "ct.gbk",
        "https://raw.githubusercontent.com/cran/seqinr/"
        "e0d29f470f5c229c8f1c63b1c7f72814dd2a014d/inst/sequences/ct.gbk",
    ),
    "ecoli": DataFile("dna.tar.gz", "MG1655-K12.fasta", NCBI + "U00096.2"),
    "lambda": DataFile("dna.tar.gz", "lambda_virus.fa", NCBI + "NC_001416.1"),
}
CODING = re.compile(r"^     CDS +(.*)$", re.MULTILINE)
STRETCH = re.compile(r"<?(\d+)\.\.>?(\d+)")  # from 1, both ends included; <, > where it goes on


@dataclass(frozen=True)
class Tagged:
    """Sentences in which every word has a tag: states that are known.

    ``words[s]`` and ``tags[s]`` are of the same length.
    """

    name: str
    words: tuple[tuple[str, ...], ...]
    tags: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Tagged({self.name}, {len(self):,} sentences)"


def brown(*, download: bool = False) -> Tagged:
    """The Brown corpus: 57,340 sentences, 1,161,192 words as they were written, with tags."""
    path = BROWN.find(download=download)
    words, tags = [], []
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(filter(BROWN_FILE.fullmatch, archive.namelist()))
            texts = [decode(archive.read(name), "utf-8", f"{path}, {name}") for name in names]
    except (zipfile.BadZipFile, zlib.error, OSError) as error:
        raise ValueError(f"{path} is no zip archive, or is damaged ({error})") from None
    if not names:
        raise ValueError(f"{path}: there is no file such as brown/ca01 in it")
    for name, text in zip(names, texts, strict=True):
        for number, line in enumerate(text.splitlines(), 1):
            tokens = [token.rpartition("/") for token in line.split()]
            if not all(slash for _, slash, _ in tokens):
                raise ValueError(f"{path}, {name}, line {number}: a word without a tag")
            if tokens:
                words.append(tuple(word for word, _, _ in tokens))
                tags.append(tuple(tag for _, _, tag in tokens))
    return Tagged("Brown", tuple(words), tuple(tags))


def msnbc(*, download: bool = False) -> Sequences:
    """Visits to msnbc.com on a day in 1999: 989,818 sequences of 4,698,794 pages out of 17."""
    path = MSNBC.find(download=download)
    lines = decode(MSNBC.content(path), "ascii", str(path)).splitlines()
    categories = tuple(lines[CATEGORIES_LINE].split()) if len(lines) > HEADER_LINES else ()
    if not categories:
        raise ValueError(f"{path}: there are no visits below {HEADER_LINES} lines of header")
    visits = [line for line in lines[HEADER_LINES:] if line.strip()]
    lengths = np.fromiter((len(line.split()) for line in visits), np.int64, len(visits))
    pages = np.array(" ".join(visits).split(), np.int32) - 1
    if not 0 <= pages.min() <= pages.max() < len(categories):
        raise ValueError(
            f"{path}: pages from {pages.min() + 1} to {pages.max() + 1} where the header has "
            f"{len(categories)}"
        )
    return Sequences(pages, np.concatenate([[0], np.cumsum(lengths)]), len(categories), categories)


class Gene(NamedTuple):
    """A stretch that codes for a protein: ``bases[start:stop]``, or its reverse complement."""

    start: int
    stop: int
    forward: bool


@dataclass(frozen=True)
class Genome:
    """A genome, and the genes that are known in it.

    Parameters
    ----------
    name : str
        Of the species.
    bases : str
        Its letters: A, C, G and T.
    genes : tuple of Gene
        Coding stretches in the order of the file; empty where the file has none.
    """

    name: str
    bases: str
    genes: tuple[Gene, ...]

    def __repr__(self) -> str:
        return f"Genome({self.name}, {len(self.bases):,} bases, {len(self.genes)} genes)"


def dna(species: Species = "chlamydia", *, download: bool = False) -> Genome:
    """The genome of a bacterium or of a virus.

    Parameters
    ----------
    species : "chlamydia", "ecoli" or "lambda"
        *Chlamydia trachomatis* (1,042,519 bases and 896 coding stretches), *Escherichia coli*
        K-12 MG1655 (4,639,675) or the phage lambda (48,502), without genes.
    download : bool
        Whether to fetch the file where it is not found.
    """
    if species not in GENOMES:
        raise ValueError(f"species must be one of {', '.join(get_args(Species))}, not {species!r}")
    path = GENOMES[species].find(download=download)
    place = f"{path}, {GENOMES[species].name}"
    text = decode(GENOMES[species].content(path), "ascii", place)
    if text.startswith(">"):  # FASTA: a line with a name, then letters
        features, letters = "", text.partition("\n")[2]
    else:  # GenBank: numbered lines of letters below ORIGIN
        features, _, letters = text.partition("\nORIGIN")
    bases = re.sub(r"[\s\d/]", "", letters).upper()
    if not re.fullmatch("[ACGT]+", bases):
        raise ValueError(f"{place}: not one sequence of A, C, G and T, as FASTA or as GenBank")
    genes = tuple(
        Gene(int(first) - 1, int(last), "complement" not in location)
        for location in CODING.findall(features)
        for first, last in STRETCH.findall(location)
    )
    return Genome(species, bases, genes)
