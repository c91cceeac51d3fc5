"""Genomes: long sequences of four letters, one of them with its genes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from cohmm.datasets.corpus import decode
from cohmm.datasets.data_files import DataFile

Species = Literal["chlamydia", "ecoli", "lambda"]
NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi?db=nuccore&rettype=fasta&id="
FILES = {
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
    if species not in FILES:
        raise ValueError(f"species must be one of {', '.join(get_args(Species))}, not {species!r}")
    path = FILES[species].find(download=download)
    place = f"{path}, {FILES[species].name}"
    text = decode(FILES[species].content(path), "ascii", place)
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
