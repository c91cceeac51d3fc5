"""Files, devices, pipes and links: what commands may write over, and how often they read."""

import os
import subprocess
import threading
from pathlib import Path
from unittest.mock import ANY

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cohmm import HMM, Cooccurrence
from tests.cli.conftest import PROGRAM, TEXT


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "args",
    [
        ("count", "d.txt", "-o", "z", "--triples", "z"),
        ("count", "d.txt", "-o", "z", "--triples", "./below/../z"),
        ("count", "d.txt", "-o", "z", "--triples", "link"),
        ("topics", "d.txt", "-o", "q", "--report", "q"),
        ("topics", "d.txt", "--report", "s.parquet", "--shares", "s.parquet"),
    ],
)
def test_no_output_is_written_over_another(run, folder, args):
    (folder / "below").mkdir()
    (folder / "link").symlink_to("z")
    before = contents(folder)
    result = run(*args, fails=ANY)
    assert f": {args[3]} is another output, and the same file\n" in result.stderr
    assert contents(folder) == before


@pytest.mark.parametrize(
    "args",
    [
        ("count", "d.txt", "-o", "d.txt"),
        ("count", "d.txt", "-o", "c.cohmm", "--triples", "d.txt"),
        ("count", "here", "-o", "here/old.txt"),
        ("merge", "n.cohmm", "-o", "n.cohmm"),
        ("fit", "d.txt", "-o", "./d.txt"),
        ("decode", "m.cohmm", "d.txt", "-o", "m.cohmm"),
        ("decode", "m.cohmm", "d.txt", "-o", "d.txt"),
        ("decode", "m.cohmm", "here", "-o", "here/old.txt"),
        ("sample", "m.cohmm", "-o", "m.cohmm"),
        ("select", "d.txt", "--plot", "d.txt"),
        ("topics", "d.txt", "-o", "d.txt", "--report", "r.html"),
        ("topics", "d.txt", "-o", "link"),
        ("topics", "here", "--report", "here/old.txt"),
        ("topics", "d.txt", "--stop-words", "s.txt", "-o", "s.txt"),
        ("topics", "d.txt", "--seed-words", "s.txt", "-o", "s.txt"),
        ("compare", "d.txt", "--csv", "d.txt"),
        ("report", "m.cohmm", "d.txt", "-o", "m.cohmm"),
        ("report", "m.cohmm", "d.txt", "-o", "d.txt"),
        ("report", "m.cohmm", "--labels", "s.txt", "-o", "s.txt"),
    ],
)
def test_no_output_is_written_over_an_input(run, folder, args):
    (folder / "here").mkdir()
    (folder / "here" / "old.txt").write_text(TEXT)
    (folder / "s.txt").write_text("a: walk\n")
    (folder / "link").symlink_to("d.txt")
    before = contents(folder)
    result = run(*args, fails=ANY)
    assert "it is an input; give another output file" in result.stderr
    assert contents(folder) == before


def test_a_pipe_is_not_read_and_written(run, folder):
    """There is nobody to read what would be written."""
    os.mkfifo("pipe")
    told = "cannot write pipe: it is an input; give another output file"
    run("decode", "m.cohmm", "pipe", "-o", "pipe", fails=told)


def test_a_file_beside_the_documents_of_a_folder_is_no_input(run, folder):
    (folder / "here").mkdir()
    (folder / "here" / "d.txt").write_text("gas oil corn wheat\n" * 9)
    for _ in range(2):  # the second time, the model is there
        run("topics", "here", "-k", "1", "-o", "here/model.cohmm")


def test_a_device_takes_every_output(run, folder):
    run("count", "d.txt", "-o", os.devnull, "--triples", os.devnull)


# -- devices, pipes and links -----------------------------------------------------------------


def test_a_device_takes_more_than_a_buffer(run, folder):
    """Its place stays 0, whatever is written."""
    words = " ".join(f"a-long-word-{n}" for n in range(4000))
    (folder / "many.txt").write_text(f"{words}\n{words}\n")
    for command in (("count",), ("fit", "-k", "1", "--no-refine")):
        run(*command, "many.txt", "-o", os.devnull)
    run("decode", "m.cohmm", "d.txt", "-o", "/dev/stdout")
    link = folder / "states.parquet"
    link.symlink_to(os.devnull)
    run("decode", "m.cohmm", "d.txt", "-o", "states.parquet")
    assert link.is_symlink()


@pytest.mark.parametrize("how", [">", ">>", "| cat >"])
def test_counts_and_models_through_standard_output(folder, how):
    words = " ".join(f"a-long-word-{n}" for n in range(4000))
    (folder / "many.txt").write_text(f"{words}\n{words}\n")
    program = " ".join(PROGRAM)
    for line, kind in (
        ("count many.txt --json", Cooccurrence),
        ("fit many.txt -k 1 --no-refine --json", HMM),
    ):
        Path("out").unlink(missing_ok=True)
        command = f"({program} {line} -o /dev/fd/3 3>&1 >/dev/null) {how} out"
        subprocess.run(command, shell=True, check=True)
        assert len(kind.load("out").vocabulary) == 4000


@pytest.mark.parametrize(
    "args", [("count", "d.txt"), ("fit", "d.txt", "-k", "1"), ("decode", "m.cohmm", "d.txt")]
)
def test_a_link_that_leads_back_to_itself_is_not_written_to(run, folder, args):
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    told = "cannot write two: it is a link that leads back to itself"
    run(*args, "-o", "two", fails=told)
    assert (folder / "two").is_symlink()


def test_nothing_can_be_remembered_beside_a_device(run):
    told = "--resume remembers files beside the output: /dev/null is not a file"
    run("count", "d.txt", "-o", os.devnull, "--resume", fails=told)


# -- pipes as inputs --------------------------------------------------------------------------


@pytest.fixture
def pipe(folder):
    """A function that makes a pipe, from which data is read once."""
    writers = []

    def make(data):
        os.mkfifo("pipe")
        writer = threading.Thread(target=(folder / "pipe").write_bytes, args=(data,))
        writer.start()
        writers.append(writer)
        return "pipe"

    yield make
    for writer in writers:
        writer.join(60)


@pytest.mark.parametrize("command", [("fit", "-k", "1", "-o", "f.cohmm"), ("diagnose", "-k", "1")])
def test_a_pipe_is_not_read_a_second_time(run, pipe, command):
    run(*command, pipe(b"walk shop walk shop shop\n" * 40))


@pytest.mark.parametrize(
    "args",
    [
        ("fit", "-k", "1", "--refine", "-o", "f.cohmm"),
        ("fit", "-k", "1", "--refine-by", "triples", "-o", "f.cohmm"),
        ("select", "-k", "1-2"),
    ],
)
def test_sequences_are_read_once_also_to_refine(run, pipe, folder, args):
    data = b"walk shop walk shop shop walk\n" * 100
    (folder / "same.txt").write_bytes(data)
    printed = [run(*args, path).stdout.splitlines() for path in (pipe(data), "same.txt")]
    assert printed[0][1:] == printed[1][1:]  # the first line has the time


def test_a_column_beside_documents_is_not_read_from_a_pipe(run, folder):
    os.mkfifo("pipe")
    assert run("topics", "--by", "day", "pipe", fails=ANY).stderr.endswith(", not pipe\n")


def test_a_pipe_is_given_once(run, folder):
    os.mkfifo("pipe")
    told = "pipe: a pipe can be read only once: give it once"
    run("count", "pipe", "pipe", "-o", "c.cohmm", fails=told)


def test_counts_of_a_parquet_file_through_a_pipe(run, folder, pipe):
    pq.write_table(pa.table({"page": ["a b", "b a"]}), "x.parquet")
    data = (folder / "x.parquet").read_bytes()
    run("count", pipe(data), "--format", "parquet", "-o", "c.cohmm")
    assert Cooccurrence.load("c.cohmm").n_pairs(1) == 2
