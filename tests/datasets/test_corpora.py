"""Corpora: parsers on small files of their formats, and what is known of the real ones."""

import gzip
import hashlib
import http.server
import io
import re
import tarfile
import threading
import zipfile
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from cohmm.data.read_documents import read_documents
from cohmm.datasets import corpora
from cohmm.datasets import data_files as files
from cohmm.datasets import public_sequences as sequences
from cohmm.datasets.corpora import (
    Corpus,
    MissingData,
    brown,
    cachopo,
    dna,
    msnbc,
    paper_article,
    parse,
    reuters21578,
    reuters_documents,
    sotu,
)
from cohmm.datasets.data_files import DataFile
from cohmm.datasets.public_sequences import Genome

SGML = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5" NEWID="1">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<TOPICS><D>wheat</D><D>oat</D></TOPICS>
<PLACES><D>peru</D></PLACES>
<UNKNOWN>&#5;&#5;C T</UNKNOWN>
<TEXT>&#2;
<TITLE>CRÈME &lt;CRM> &amp; CO</TITLE>
<DATELINE>    LIMA, Feb 26 - </DATELINE><BODY>Wheat rose by
two pct.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="6" NEWID="2">
<DATE> 1-MAR-1987 09:00:00.00</DATE>
<TOPICS></TOPICS>
<PLACES></PLACES>
<TEXT TYPE="BRIEF">&#2;
<TITLE>WHEAT ROSE</TITLE>&#3;
</TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="7" NEWID="3">
<DATE> 1-MAR-1987 09:00:00.00</DATE>
<TOPICS></TOPICS>
<PLACES></PLACES>
<TEXT TYPE="UNPROC">&#2;
WEEKLY TABLE
 oats..644
&#3;
</TEXT>
</REUTERS>
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that COHMM_DATA names; the cache is empty."""
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("COHMM_DATA", str(data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return data


def pack(path, contents: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


# -- Reuters-21578 --------------------------------------------------------------------------


@pytest.mark.parametrize("inside", ["", "reuters21578/"])
def test_articles_are_read_from_the_archive(folder, inside):
    later = SGML.replace('NEWID="', 'NEWID="10')
    pack(
        folder / "reuters21578.tar.gz",
        {
            f"{inside}reut2-001.sgm": later.encode("latin-1"),
            f"{inside}reut2-000.sgm": SGML.encode("latin-1"),
            f"{inside}README.txt": b"<REUTERS >not this</REUTERS>",
        },
    )
    corpus = reuters21578()
    assert corpus.ids == ("1", "2", "3", "101", "102", "103")
    assert corpus.texts[:3] == (
        "CRÈME <CRM> & CO\nWheat rose by\ntwo pct.\n Reuter",
        "WHEAT ROSE",
        "WEEKLY TABLE\n oats..644",
    )
    assert corpus.labels[:3] == (("wheat", "oat"), (), ())
    article = corpus.articles[0]
    assert article.newid == 1
    assert article.date == "26-FEB-1987 15:01:01.79"
    assert article.title == "CRÈME <CRM> & CO"
    assert article.body.startswith("Wheat")
    assert article.places == ("peru",)
    assert (article.lewis_split, article.cgi_split) == ("TRAIN", "TRAINING-SET")
    assert [a.unprocessed != "" for a in corpus.articles[:3]] == [False, False, True]
    assert reuters21578("train").ids == ("1", "101")
    assert reuters21578("test").ids == ("2", "102")  # nobody looked for the third one's topics
    assert repr(corpus) == "Reuters(Reuters-21578, 6 documents)"
    with pytest.raises(ValueError, match="subset must be one of all, train, test, not 'dev'"):
        reuters21578("dev")


def test_an_article_without_a_number():
    with pytest.raises(ValueError, match=r"x\.sgm: an article has no NEWID"):
        list(parse(SGML.replace("NEWID", "ID"), "x.sgm"))


def test_archives_that_are_none(folder):
    path = folder / "reuters21578.tar.gz"
    path.write_bytes(b"<html>moved</html>")
    with pytest.raises(ValueError, match="no tar archive, or is damaged"):
        reuters21578()
    pack(path, {"README.txt": b""})
    with pytest.raises(ValueError, match=r"there is no \.sgm file in it"):
        reuters21578()
    pack(path, {"reut2-000.sgm": SGML.encode("latin-1") * 50})
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match="damaged"):
        reuters21578()


# -- Cardoso-Cachopo, State of the Union ----------------------------------------------------

TEST = b"trade\tasian exporters \ngrain\tchina daily vermin eat pct grain \n"


def test_lines_of_label_and_words(folder):
    pack(
        folder / "reuters-cachopo.tar.gz",
        {
            "reuters-cachopo/r8-test-no-stop.txt": TEST,
            "reuters-cachopo/derived/r52-test-no-stop.txt": b"tin\ttin price \n",
            "reuters-cachopo/derived/r52-train-no-stop.txt": b"gold\tgold mine \n",
            "reuters-cachopo/r8-test-stemmed.txt": b"no",
        },
    )
    corpus = cachopo("r8", "test")
    assert corpus == Corpus(
        "R8 test",
        ("asian exporters", "china daily vermin eat pct grain"),
        (("trade",), ("grain",)),
        ("r8 test 1", "r8 test 2"),
    )
    assert cachopo("r52").texts == ("gold mine", "tin price")
    assert cachopo("r52").name == "R52"
    assert paper_article() == "china daily vermin eat pct grain"
    with pytest.raises(ValueError, match=r"there is no r8-train-no-stop\.txt in it"):
        cachopo("r8", "train")
    with pytest.raises(ValueError, match="version must be 'r8' or 'r52', not 'r10'"):
        cachopo("r10")
    with pytest.raises(ValueError, match="subset must be"):
        cachopo("r8", "dev")


def test_lines_as_they_are_downloaded(folder):
    (folder / "r8-test-no-stop.txt").write_bytes(TEST)
    assert len(cachopo("r8", "test")) == 2
    (folder / "r8-test-no-stop.txt").write_bytes(TEST + b"no label\n")
    with pytest.raises(ValueError, match="line 3: no tab between label and words"):
        cachopo("r8", "test")
    (folder / "r8-test-no-stop.txt").write_bytes(b"trade\tcaf\xe9\n")
    with pytest.raises(ValueError, match="not utf-8 text"):
        cachopo("r8", "test")
    (folder / "r8-test-no-stop.txt").write_bytes(b"trade\tasian\n")
    with pytest.raises(ValueError, match="no article of R8"):
        paper_article()


@pytest.mark.parametrize(
    ("name", "inside"), [("sotu-stdlib", "sotu-stdlib/"), ("datasets-sotu-0.2.3", "d/data/")]
)
def test_addresses(folder, name, inside):
    pack(
        folder / f"{name}.tar.gz",
        {
            f"{inside}1945_franklin_d_roosevelt_d.txt": b"\nTo the Congress",
            f"{inside}1790_george_washington_n.txt": "Fellow-Citizens … ".encode(),
            f"{inside}README.md": b"not this",
        },
    )
    corpus = sotu()
    assert corpus.ids == ("1790 george washington", "1945 franklin d roosevelt")
    assert corpus.labels[1] == ("franklin d roosevelt", "Democratic")
    assert corpus.texts[0] == "Fellow-Citizens … "
    pack(folder / f"{name}.tar.gz", {"README.md": b""})
    with pytest.raises(ValueError, match="there is no address in it"):
        sotu()


def test_a_corpus_has_one_label_a_text():
    with pytest.raises(ValueError, match="x: 1 texts, 0 labels and 1 ids"):
        Corpus("x", ("rain",), (), ("1",))


# -- sequences ------------------------------------------------------------------------------


def zipped(path, contents: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def test_tagged_sentences(folder):
    path = folder / "brown.zip"
    zipped(path, {"brown/cb01": b"\n\tand/or/cc it/pps\n\n", "brown/ca01": b"\n\tThe/at\n"})
    found = brown()
    assert found.words == (("The",), ("and/or", "it"))
    assert found.tags == (("at",), ("cc", "pps"))
    assert repr(found) == "Tagged(Brown, 2 sentences)"
    zipped(path, {"brown/ca01": b"\n\tThe/at jury\n"})
    with pytest.raises(ValueError, match="brown/ca01, line 2: a word without a tag"):
        brown()
    zipped(path, {"README": b""})
    with pytest.raises(ValueError, match="no file such as brown/ca01"):
        brown()
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no zip archive"):
        brown()


VISITS = b"% Different\r\n\r\nfrontpage news tech\r\n\r\n\r\n% Sequences:\r\n\r\n1 1 \r\n3 2 \r\n"


def test_visits(folder):
    for name, write in (
        ("msnbc990928.seq.gz", lambda path: path.write_bytes(gzip.compress(VISITS))),
        ("msnbc.tar.gz", lambda path: pack(path, {"msnbc/msnbc990928.seq": VISITS})),
    ):
        write(folder / name)
        found = msnbc()
        assert found.labels() == [["frontpage", "frontpage"], ["tech", "news"]]
        assert found.n_symbols == 3
        (folder / name).unlink()
    path = folder / "msnbc990928.seq.gz"
    path.write_bytes(gzip.compress(VISITS + b"4 \r\n"))
    with pytest.raises(ValueError, match="pages from 1 to 4 where the header has 3"):
        msnbc()
    path.write_bytes(gzip.compress(VISITS[:40]))
    with pytest.raises(ValueError, match="there are no visits"):
        msnbc()
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no gzip file"):
        msnbc()


# -- genomes --------------------------------------------------------------------------------

FASTA = b">gi|1| a phage\nGATTACA\ngattaca\n"
GENBANK = b"""LOCUS       CHLTCG    14 bp    DNA   circular
FEATURES             Location/Qualifiers
     CDS             <1..6
                     /product="ends; ORIGIN of 7..9"
     gene            1..6
     CDS             complement(join(8..10,10..>12))
ORIGIN
        1 gattacagat
       11 taca
//
"""


def test_genomes(folder):
    pack(
        folder / "dna.tar.gz",
        {
            "dna/ct.gbk.gz": gzip.compress(GENBANK),
            "dna/ct.fasta.gz": b"not this",
            "dna/lambda_virus.fa.gz": gzip.compress(FASTA),
        },
    )
    assert dna() == Genome(
        "chlamydia", "GATTACAGATTACA", ((0, 6, True), (7, 10, False), (9, 12, False))
    )
    assert dna("lambda") == Genome("lambda", "GATTACAGATTACA", ())
    assert repr(dna()) == "Genome(chlamydia, 14 bases, 3 genes)"
    with pytest.raises(ValueError, match=r"there is no MG1655-K12\.fasta in it"):
        dna("ecoli")
    with pytest.raises(ValueError, match="not 'human'"):
        dna("human")


def test_genomes_as_they_are_downloaded(folder):
    with pytest.raises(MissingData, match=r"dna\.tar\.gz or ct\.gbk was not found"):
        dna()
    (folder / "ct.gbk").write_bytes(GENBANK)
    assert len(dna().bases) == 14
    for content in (b"<html>moved</html>", FASTA + FASTA, GENBANK.replace(b"ORIGIN\n", b"")):
        (folder / "ct.gbk").write_bytes(content)
        with pytest.raises(ValueError, match=r"ct\.gbk: not one sequence of A, C, G and T"):
            dna()
    pack(folder / "dna.tar.gz", {"dna/ct.gbk.gz": gzip.compress(GENBANK)[:-9]})
    with pytest.raises(ValueError, match="no gzip file, or is damaged"):
        dna()


# -- where data is --------------------------------------------------------------------------


def test_data_that_is_nowhere_says_how_to_get_it(folder, monkeypatch):
    with pytest.raises(MissingData) as caught:
        reuters21578()
    message = str(caught.value)
    assert f"COHMM_DATA (now {folder}) to a folder that has it" in message
    assert str(files.cache_folder()) in message
    assert f"download=True to fetch {corpora.REUTERS.address}" in message
    assert isinstance(caught.value, ValueError)
    monkeypatch.delenv("COHMM_DATA")
    with pytest.raises(MissingData, match="COHMM_DATA to a folder"):
        reuters21578()


def test_the_named_folder_comes_before_the_cache(folder, tmp_path, monkeypatch):
    cache = tmp_path / "cache" / "cohmm"
    cache.mkdir(parents=True)
    (cache / "r8-test-no-stop.txt").write_bytes(b"a\tin the cache\n")
    assert cachopo("r8", "test").texts == ("in the cache",)
    (folder / "r8-test-no-stop.txt").write_bytes(b"a\tin the folder\n")
    assert cachopo("r8", "test").texts == ("in the folder",)
    monkeypatch.setenv("COHMM_DATA", "")
    assert cachopo("r8", "test").texts == ("in the cache",)


def test_the_cache_is_where_caches_are(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert files.cache_folder() == tmp_path / ".cache" / "cohmm"


@pytest.fixture
def server(tmp_path):
    """The address of a folder served on this machine."""
    root = tmp_path / "public"
    root.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(root))

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield root, f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()
        thread.join()


def test_a_download_is_only_made_when_asked_for_and_kept(folder, server, monkeypatch):
    root, address = server
    pack(root / "r.tar.gz", {"reut2-000.sgm": SGML.encode("latin-1")})
    monkeypatch.setattr(corpora, "REUTERS", replace(corpora.REUTERS, address=address + "r.tar.gz"))
    with pytest.raises(MissingData):
        reuters21578()
    assert len(reuters21578(download=True)) == 3
    assert (files.cache_folder() / "reuters21578.tar.gz").is_file()
    (root / "r.tar.gz").unlink()
    assert len(reuters21578()) == 3


def test_a_download_is_what_it_should_be(folder, server):
    root, address = server
    (root / "x.txt").write_bytes(b"rain")
    right, wrong = hashlib.sha256(b"rain").hexdigest(), hashlib.sha256(b"sun").hexdigest()
    with pytest.raises(MissingData, match=r"x\.txt could not be fetched: .*hash"):
        DataFile("none", "x.txt", address + "x.txt", wrong).find(download=True)
    assert not (files.cache_folder() / "x.txt").exists()
    path = DataFile("none", "x.txt", address + "x.txt", right).find(download=True)
    assert path.read_bytes() == b"rain"
    with pytest.raises(MissingData, match=r"y\.txt could not be fetched: .*404"):
        DataFile("none", "y.txt", address + "y.txt").find(download=True)


def test_addresses_are_public_and_secure():
    known = [corpora.REUTERS, corpora.SOTU, sequences.BROWN, sequences.MSNBC]
    known += sequences.GENOMES.values()
    assert all(file.address.startswith("https://") for file in known)
    assert corpora.MIRROR.startswith("https://")


# -- the real ones --------------------------------------------------------------------------


def real(load, *arguments):
    """A corpus, or a reason to skip."""
    try:
        return load(*arguments)
    except MissingData as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def articles():
    return real(reuters21578)


def test_all_of_reuters(articles):
    assert len(articles) == 21_578
    assert sorted(map(int, articles.ids)) == list(range(1, 21_579))
    bodies = [article.body for article in articles.articles if article.body]
    assert len(bodies) == 19_043
    # The README's 2,586,293 counts as words the end mark "&#3;" of every body, which is no part
    # of its text, and "&#30;" in NEWID 17980, between two words.
    assert sum(len(body.split()) for body in bodies) == 2_586_293 - 19_043 - 1
    kinds = Counter((a.title != "", a.body != "") for a in articles.articles)
    assert kinds == {(True, True): 19_043, (True, False): 1_798, (False, False): 737}
    assert not any(re.search(r"&\w+;|&#|[\x00-\x08\x0e-\x1f\x7f]", text) for text in articles.texts)
    sides = Counter(a.lewis_split for a in articles.articles if a.topics_known == "YES")
    assert (sides["TRAIN"], sides["TEST"]) == (9_603, 3_299)


def test_a_side_of_the_split(articles):
    test = real(reuters21578, "test")
    assert len(test) == 3_299
    assert set(test.articles) < set(articles.articles)


def test_reuters_as_it_is_evaluated():
    documents = real(reuters_documents)
    assert len(documents) == 20_841
    assert documents.n_words == 1_452_162
    assert documents.n_symbols == 12_776
    assert (documents.lengths > 0).all()
    assert documents.name_of(0) == "document 0 (NEWID 1)"
    assert "reuter" not in documents.vocabulary


def test_the_article_of_the_paper(articles):
    printed = real(paper_article).split()
    assert printed[:7] == ["china", "daily", "vermin", "eat", "pct", "grain", "stocks"]
    original = articles.articles[articles.ids.index("14828")]
    words = iter(re.findall("[a-z]+", original.text.lower()))
    assert all(word in words for word in printed)  # in the same order


@pytest.mark.parametrize(
    ("version", "subset", "documents", "words", "labels"),
    [
        ("r8", "train", 5_485, 363_788, 8),
        ("r8", "test", 2_189, 131_438, 8),
        ("r52", "train", 6_532, 459_344, 52),
        ("r52", "test", 2_568, 165_112, 52),
    ],
)
def test_all_of_cachopo(version, subset, documents, words, labels):
    corpus = real(cachopo, version, subset)
    assert len(corpus) == documents
    assert len(set(corpus.labels)) == labels
    assert read_documents(corpus.texts, analyzer=str.split).n_words == words


def test_all_addresses():
    corpus = real(sotu)
    assert len(corpus) == 233
    years = [int(name[:4]) for name in corpus.ids]
    assert (years[0], years[-1]) == (1790, 2021)
    assert years == sorted(years)
    assert len("".join(corpus.texts).encode().split()) == 1_794_882
    assert {party for _, party in corpus.labels} == set(corpora.PARTIES.values())


def test_all_of_brown():
    corpus = real(brown)
    assert len(corpus) == 57_340
    assert sum(map(len, corpus.words)) == sum(map(len, corpus.tags)) == 1_161_192


def test_all_visits():
    visits = real(msnbc)
    assert len(visits) == 989_818
    assert len(visits.symbols) == 4_698_794
    assert visits.n_symbols == 17
    assert np.bincount(visits.symbols).min() > 0


@pytest.mark.parametrize(
    ("species", "n_bases", "n_genes"),
    [("chlamydia", 1_042_519, 896), ("ecoli", 4_639_675, 0), ("lambda", 48_502, 0)],
)
def test_all_genomes(species, n_bases, n_genes):
    genome = real(dna, species)
    assert len(genome.bases) == n_bases
    assert len(genome.genes) == n_genes
    assert all((stop - start) % 3 == 0 for start, stop, _ in genome.genes)  # whole codons
