"""``cohmm demo``."""

import json

import pytest

from cohmm.cli.demo import run as run_demo
from cohmm.datasets.synthetic import separable_hmm


def test_the_table_fits_a_screen(run, folder):
    before = {path.name for path in folder.iterdir()}
    output = run("demo", "-n", "20000").stdout
    for word in ("sample", "20,000 symbols", "count", "learn", "score", "perplexity", "by chance"):
        assert word in output
    assert max(map(len, output.splitlines())) <= 80
    assert len(output.splitlines()) <= 24
    assert {path.name for path in folder.iterdir()} == before


def test_json_is_one_object(run):
    found = json.loads(run("demo", "-n", "100000", "--seed", "3", "--json").stdout)
    assert list(found["seconds"]) == ["sample", "count", "learn", "score", "decode"]
    assert all(seconds > 0 for seconds in found["seconds"].values())
    assert found["right"] > 0.8 > 0.2 > found["chance"] > 1 / 20
    assert found["emission_error"] < 0.15
    assert found["transition_error"] < 0.15
    again = json.loads(run("demo", "-n", "100000", "--seed", "3", "--json").stdout)
    other = json.loads(run("demo", "-n", "100000", "--seed", "4", "--json").stdout)
    del found["seconds"], again["seconds"]
    assert found == again
    assert found["perplexity"] != other["perplexity"]


@pytest.mark.filterwarnings("ignore::cohmm.learn.evidence.EvidenceWarning")
def test_more_data_comes_closer_to_the_pair_law():
    hmm = separable_hmm(random_state=0)
    few, many = run_demo(hmm, 2_000, seed=0), run_demo(hmm, 200_000, seed=0)
    assert many.pair_gap < few.pair_gap / 5
    assert many.pair_gap > 0
