"""``cohmm count`` of many files: sums of saved counts, bad files, and going on after a kill."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from cohmm import Cooccurrence, Triples, count_pairs, count_triples
from cohmm.evidence.saved_counts import PLAN, forget
from tests.soak import resume

PARTS = {"1.txt": "b a\na c b\n", "2.txt": "c d a\n\n", "3.txt": "a b c d\n"}


@pytest.fixture
def parts(folder):
    for name, text in PARTS.items():
        (folder / name).write_text(text)
    return list(PARTS)


def sequences(names=PARTS):
    return [line.split() for name in names for line in PARTS[name].splitlines() if line]


def save(path, data, **options):
    count_pairs(data, **options).save(path)
    return str(path)


# -- sums of saved counts ---------------------------------------------------------------------


@pytest.mark.parametrize("memory", [[], ["--memory", "4GB"]])
def test_merged_counts_are_the_sum(run, folder, memory):
    rng = np.random.default_rng(0)
    data = [[f"w{code}" for code in rng.integers(0, n, 6000)] for n in (40, 3000, 2000)]
    paths = [save(folder / f"{i}.cohmm", y, lags=(1, 2)) for i, y in enumerate(data)]
    result = run("merge", *paths, "-o", "sum.cohmm", *memory)
    assert run("count", "--merge", *paths, "-o", "old.cohmm", *memory).stderr == ""
    assert Cooccurrence.load("old.cohmm") == Cooccurrence.load("sum.cohmm")
    found = Cooccurrence.load("sum.cohmm")
    assert found == sum(map(Cooccurrence.load, paths))
    assert found == count_pairs(data, lags=(1, 2))
    n_pairs = " and ".join(f"{found.n_pairs(lag):,.0f} at lag {lag}" for lag in (1, 2))
    assert result.stdout == (
        f"sum.cohmm: 18,000 observations, {found.n_symbols:,} symbols; "
        f"pairs: {n_pairs.replace(' and', ',')}\n"
    )


def test_an_order_of_labels_that_has_them_all_is_kept(run, folder):
    first = save(folder / "1.cohmm", ["z", "a", "m"], vocabulary=["z", "q", "m", "a"])
    second = save(folder / "2.cohmm", ["m", "z"], vocabulary=["m", "z"])
    run("merge", first, second, "-o", "sum.cohmm")
    found = Cooccurrence.load("sum.cohmm")
    assert found.vocabulary == ("z", "q", "m", "a")
    assert found == Cooccurrence.load(first) + Cooccurrence.load(second)
    run("merge", second, first, "-o", "sum.cohmm")
    assert Cooccurrence.load("sum.cohmm") == Cooccurrence.load(second) + Cooccurrence.load(first)


def test_large_counts_in_another_order_are_moved(run, folder):
    rng = np.random.default_rng(1)
    labels = [f"w{code}" for code in rng.permutation(1500)]
    matrix = rng.poisson(rng.choice([0, 0, 0, 1, 500], (1500, 1500)))
    counts = Cooccurrence({1: matrix}, matrix.sum(1), np.ones(1500, int), labels)
    counts.save("1.cohmm")
    save(folder / "2.cohmm", ["new", *labels])
    run("merge", "1.cohmm", "2.cohmm", "-o", "sum.cohmm")
    assert Cooccurrence.load("sum.cohmm") == counts + Cooccurrence.load("2.cohmm")


def test_numbers_and_laws_and_triples_are_added(run, folder):
    save(folder / "1.cohmm", [0, 1, 0])
    save(folder / "2.cohmm", [2, 2000, 2], n_symbols=2002)
    run("merge", "1.cohmm", "2.cohmm", "-o", "sum.cohmm")
    assert Cooccurrence.load("sum.cohmm") == count_pairs([[0, 1, 0], [2, 2000, 2]], n_symbols=2002)
    law = Cooccurrence.from_probability([[0.5, 0.2], [0.3, 0]], n_pairs=7)
    law.save("law.cohmm")
    run("merge", "1.cohmm", "law.cohmm", "-o", "sum.cohmm")
    assert Cooccurrence.load("sum.cohmm") == Cooccurrence.load("1.cohmm") + law
    for name in ("s", "t"):
        count_triples(["a", name, "a"]).save(f"{name}.cohmm")
    assert run("merge", "s.cohmm", "t.cohmm", "-o", "sum.cohmm").stdout == (
        "sum.cohmm: 3 symbols; triples: 2\n"
    )
    assert Triples.load("sum.cohmm") == count_triples([["a", "s", "a"], ["a", "t", "a"]])


def test_a_sum_can_be_pruned(run, folder):
    paths = [save(folder / f"{i}.cohmm", y) for i, y in enumerate([[*"abcab"], [*"babxa"]])]
    result = run("merge", *paths, "-o", "sum.cohmm", "--max-vocabulary", "2")
    assert result.stderr == (
        "cohmm: max_vocabulary=2 dropped 2 of 4 symbols, with 2 of 10 observations (20 %), which "
        "count as missing\n"
    )
    expected = count_pairs([[*"abcab"], [*"babxa"]], vocabulary=["a", "b"], unseen="missing")
    assert Cooccurrence.load("sum.cohmm") == expected


def damage(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def test_what_does_not_add_up_is_told(run, folder):
    rng = np.random.default_rng(0)
    save(folder / "a.cohmm", ["a", "b"])
    save(folder / "n.cohmm", [0, 1])
    save(folder / "l.cohmm", ["a", "b", "a"], lags=(2,))
    save(folder / "big.cohmm", rng.integers(0, 2000, 9000))
    merge = lambda *names, **options: run("merge", *names, "-o", "s.cohmm", **options)  # noqa: E731
    merge("a.cohmm", "l.cohmm", fails="l.cohmm has counts of lags (2,), a.cohmm of (1,)")
    merge("a.cohmm", "n.cohmm", fails=(
        "n.cohmm and a.cohmm: counts of labels and counts of numbers do not add up"
    ))  # fmt: skip
    merge("m.cohmm", fails="m.cohmm holds a HMM, not a cooccurrence")
    merge("d.txt", fails="d.txt is not a cohmm file")
    size = (folder / "big.cohmm").stat().st_size
    damage(folder / "big.cohmm", size // 2)
    merge("n.cohmm", "big.cohmm", fails=(
        "big.cohmm is not a cohmm file, or is damaged (Bad CRC-32 for file '1.data.npy')"
    ))  # fmt: skip
    for command in (["merge"], ["count", "--merge"]):
        told = "No such option: --resume (see cohmm merge --help)"
        run(*command, "a.cohmm", "--resume", "-o", "s.cohmm", fails=told)
    assert not (folder / "s.cohmm").exists()


# -- bad files --------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [[], ["--resume"], ["--integers"], ["--memory", "4GB"]])
def test_a_bad_file_is_left_out_as_a_whole(run, folder, more):
    """Its first line is good, has labels of its own, and counts nothing."""
    numbers = "--integers" in more
    good = {"1.txt": "1 2 3\n2 1\n", "3.txt": "3 3 1\n"}
    for name, text in good.items():
        (folder / name).write_text(text)
    (folder / "2.txt").write_bytes(b"1 9 1\n" * 100_000 + b"\xff\n")
    run("count", *good, "-o", "c.cohmm", "--triples", "t.cohmm", *more)
    expected = [Cooccurrence.load("c.cohmm"), Triples.load("t.cohmm")]
    names = ["1.txt", "2.txt", "3.txt", "-o", "c.cohmm", "--triples", "t.cohmm", *more]
    line = "2.txt: line 100001 is not UTF-8 text: it has the byte 0xff"
    run("count", *names, fails=line)
    assert run("count", *names, "--skip-bad").stderr == f"cohmm: left out: {line}\n"
    assert [Cooccurrence.load("c.cohmm"), Triples.load("t.cohmm")] == expected
    assert expected[0].n_symbols == (4 if numbers else 3)
    assert not (folder / "c.cohmm.partial").exists()


def test_bad_files_of_groups_are_left_out(run, folder):
    (folder / "1.csv").write_text("u,p\nx,a\ny,b\n")
    (folder / "2.csv").write_text('u,p\nx,z\ny,"b\n')
    (folder / "3.csv").write_text("u,p\nx,b\ny,b\n")
    group = ["--group", "u", "--column", "p", "-o", "c.cohmm"]
    run("count", "1.csv", "3.csv", *group)
    expected = Cooccurrence.load("c.cohmm")
    result = run("count", "1.csv", "2.csv", "3.csv", *group, "--skip-bad")
    assert result.stderr.startswith("cohmm: left out: 2.csv")
    assert Cooccurrence.load("c.cohmm") == expected == count_pairs([["a", "b"], ["b", "b"]])


def test_files_that_are_all_bad_are_an_error(run, folder):
    for name in ("1.txt", "2.txt"):
        (folder / name).write_bytes(b"\xff")
    run("count", "1.txt", "2.txt", "--skip-bad", "-o", "c.cohmm", fails=(
        "none of 2 files can be read to its end; the first: 1.txt: line 1 is not UTF-8 text: it "
        "has the byte 0xff"
    ))  # fmt: skip


# -- going on after an interruption -----------------------------------------------------------


def test_a_run_goes_on_where_it_ended(run, folder, parts):
    """The third file is bad at first: what was finished is not read again."""
    (folder / "3.txt").write_bytes(b"\xff\n")
    command = ["count", *parts, "-o", "c.cohmm", "--triples", "t.cohmm", "--resume"]
    run(*command, fails="3.txt: line 1 is not UTF-8 text: it has the byte 0xff")
    remembered = folder / "c.cohmm.partial"
    notes = {path.name for path in remembered.iterdir()}
    assert notes == {
        PLAN, "lock", "000000.json", "000000.cohmm", "000000.triples", "000001.json",
        "000001.cohmm", "000001.triples",
    }  # fmt: skip
    plan = json.loads((remembered / PLAN).read_text())
    (folder / "3.txt").write_text(PARTS["3.txt"])
    status = (folder / "3.txt").stat()
    plan["files"][2][1:] = status.st_size, status.st_mtime_ns
    (remembered / PLAN).write_text(json.dumps(plan))
    for name in ("1.txt", "2.txt"):  # it would be an error to read them
        times = (folder / name).stat()
        (folder / name).write_bytes(b"\xff" * times.st_size)
        os.utime(folder / name, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run(*command).stderr == "cohmm: 2.txt: 1 blank line was skipped\n"
    assert Cooccurrence.load("c.cohmm") == count_pairs(sequences())
    assert Triples.load("t.cohmm") == count_triples(sequences())
    assert not remembered.exists()


def test_other_files_or_options_are_told(run, folder, parts):
    (folder / "4.txt").write_bytes(b"\xff\n")
    command = ["count", "1.txt", "2.txt", "4.txt", "-o", "c.cohmm", "--resume"]
    run(*command, fails="4.txt: line 1 is not UTF-8 text: it has the byte 0xff")
    remedy = "go on with what was counted then, or remove c.cohmm.partial"
    run(*command, "--lags", "1,2", fails=(
        f"c.cohmm.partial was begun with lags=[1], not [1, 2]: {remedy}"
    ))  # fmt: skip
    run("count", "1.txt", "3.txt", "4.txt", *command[4:], fails=(
        f"c.cohmm.partial was begun without the file {folder / '3.txt'}: {remedy}"
    ))  # fmt: skip
    run("count", "1.txt", "2.txt", *command[4:], fails=(
        f"c.cohmm.partial was begun with the file {folder / '4.txt'}: {remedy}"
    ))  # fmt: skip
    run("count", "2.txt", "1.txt", "4.txt", *command[4:], fails=(
        f"c.cohmm.partial was begun with the same files in another order: {remedy}"
    ))  # fmt: skip
    (folder / "2.txt").write_text("other\n")
    run(*command, fails=(
        f"{folder / '2.txt'} is not the file it was when c.cohmm.partial was begun: {remedy}"
    ))  # fmt: skip
    shutil.rmtree(folder / "c.cohmm.partial")
    run("count", "1.txt", "3.txt", "-o", "c.cohmm", "--resume")
    assert Cooccurrence.load("c.cohmm") == count_pairs(sequences(["1.txt", "3.txt"]))


def test_what_cannot_be_resumed_is_told(run, folder, parts):
    run("count", "-", "--resume", "-o", "c.cohmm", fails=(
        "standard input cannot be read again: resuming is for files"
    ))  # fmt: skip
    (folder / "g.csv").write_text("u,p\nx,a\nx,b\n")
    run("count", "g.csv", "--column", "p", "--group", "u", "--resume", "-o", "c.cohmm", fails=(
        "with group or order a sequence may go on in another file: files cannot be finished one "
        "by one, nor resumed"
    ))  # fmt: skip
    assert not (folder / "c.cohmm.partial").exists()


def test_half_a_folder_is_one_of_fewer_files(run, folder, parts, monkeypatch):
    """A kill while the folder is removed, after each of its files."""
    command = ["count", *parts, "-o", "c.cohmm", "--triples", "t.cohmm", "--resume"]
    with monkeypatch.context() as patch:
        patch.setattr("cohmm.evidence.saved_counts.forget", lambda folder: None)
        run(*command)
    expected = [(folder / name).read_bytes() for name in ("c.cohmm", "t.cohmm")]
    remembered = folder / "c.cohmm.partial"
    shutil.copytree(remembered, folder / "kept")
    n_files = len(list(remembered.iterdir()))
    assert n_files == 11
    for survives in range(n_files):
        shutil.rmtree(remembered, ignore_errors=True)
        shutil.copytree(folder / "kept", remembered)
        removed = []

        def unlink(path, missing_ok=False, removed=removed, survives=survives):
            if len(removed) == survives:
                raise OSError("killed")
            if path.exists():
                removed.append(path)
                os.unlink(path)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", unlink)
            forget(remembered)
        if (remembered / PLAN).exists():
            run(*command)
            assert [(folder / name).read_bytes() for name in ("c.cohmm", "t.cohmm")] == expected
            assert not remembered.exists()
        else:
            assert not remembered.exists()


def test_a_note_without_its_counts_is_damage(run, folder, parts, monkeypatch):
    (folder / "3.txt").write_bytes(b"\xff\n")
    command = ["count", *parts, "-o", "c.cohmm", "--resume", "--skip-bad"]
    monkeypatch.setattr("cohmm.evidence.saved_counts.forget", lambda folder: None)
    run(*command)
    (folder / "c.cohmm.partial" / "000001.cohmm").unlink()
    run(*command, fails="there is no file c.cohmm.partial/000001.cohmm")


def test_killed_at_random_moments_it_counts_the_same(tmp_path):
    row = resume.soak(tmp_path, kills=3, n_files=6, n_symbols=150_000, seed=0)
    assert row.kills == 3
    assert row.same
    assert row.leftovers == []
    assert len(resume.table([row]).splitlines()) == 3
