"""A real cluster of two worker processes gives what the local run gives, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cohmm import HTMM, PairwiseHMM, Sequences, count_pairs, count_triples
from cohmm.data.partitioned import as_data
from cohmm.data.parts import EngineError
from cohmm.data.read_documents import read_documents
from cohmm.distributed import Partitions
from cohmm.learn.pairwise import pairwise
from tests.distributed.data_at_hand import (
    K,
    assert_same_hmm,
    assert_same_topics,
    local_hmm,
    local_topics,
    rows_of_symbols,
    sequences,
    texts,
)

bags = pytest.importorskip("dask.bag")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        warnings.catch_warnings(),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


FIRST_PART = """
import warnings
warnings.simplefilter("ignore")
from dask import bag
from distributed import Client, LocalCluster
from cohmm import HTMM, PairwiseHMM
from cohmm.distributed import Partitions

if __name__ == "__main__":
    options = dict(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster):
        rows = bag.from_sequence([[0, 1, 1, 0, 1, 0] * 20] * 9, npartitions=3)
        PairwiseHMM(1, random_state=0).fit(Partitions.of(rows))
        lines = ["wheat corn wheat corn", "rate bank rate bank"] * 9
        texts = bag.from_sequence(lines, npartitions=3)
        HTMM(2, min_df=1, random_state=0).fit(Partitions.of(texts))
"""


def test_workers_compile_and_keep_nothing(tmp_path: Path) -> None:
    """A worker with a fresh home folder does its first part at once: nothing of ours is cached."""
    home, script = tmp_path / "home", tmp_path / "first_part.py"
    home.mkdir()
    script.write_text(FIRST_PART)
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run(
        [sys.executable, str(script)], env=env, cwd=tmp_path, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    kept = [path.relative_to(home) for path in home.rglob("*") if path.is_file()]
    assert not [path for path in kept if path.parts[:2] != (".config", "dask")]


def bag_of(items: list[Any], n: int = 3) -> Any:
    return bags.from_sequence(items, npartitions=n)


@pytest.mark.usefixtures("client")
def test_counts_are_equal_bit_for_bit() -> None:
    data = Partitions.of(bag_of(sequences()))
    assert count_pairs(data, lags=(1, 2)) == count_pairs(sequences(), lags=(1, 2))
    assert count_triples(data) == count_triples(sequences())


@pytest.mark.usefixtures("client")
def test_an_hmm_is_the_same_with_refinement() -> None:
    model = PairwiseHMM(K, random_state=0).fit(Partitions.of(bag_of(sequences())))
    assert model.fit_.evidence == "sequences"
    assert_same_hmm(model, local_hmm())


@pytest.mark.usefixtures("client")
def test_topics_are_the_same_with_their_pass_over_documents() -> None:
    model = HTMM(K, random_state=0).fit(Partitions.of(bag_of(texts()[:-1])))
    assert_same_topics(model, local_topics())


@pytest.mark.usefixtures("client")
def test_answers_are_a_bag_that_waits() -> None:
    data = Partitions.of(bag_of(sequences()))
    model = local_hmm()
    scores = model.score_sequences(data)
    assert isinstance(scores, bags.Bag)
    np.testing.assert_allclose(scores.compute(), model.score_sequences(sequences()), atol=1e-9)
    paths = model.decode(data).compute()
    assert [state for path in paths for state in path["states"]] == list(model.predict(sequences()))
    assert model.score(data) == pytest.approx(model.score(sequences()), abs=1e-7)


@pytest.mark.usefixtures("client")
def test_shares_and_segments_of_documents_also_of_an_empty_one() -> None:
    topics = local_topics()
    data = Partitions.of(bag_of(texts()))
    with pytest.warns(UserWarning, match="no word that is kept"):
        expected = topics.transform(texts())
    np.testing.assert_allclose(topics.transform(data).compute(), expected, atol=1e-12)
    found = topics.segment(data).compute()
    here = topics.segment(texts()[:-1])
    assert [one["words"] for one in found] == [*(one.words for one in here), []]
    assert [one["topics"] for one in found[:-1]] == [one.topics.tolist() for one in here]


@pytest.mark.usefixtures("client")
def test_rows_of_a_frame_are_brought_together_by_their_group() -> None:
    import dask.dataframe as frames
    import pandas as pd

    rows = pd.DataFrame(rows_of_symbols())
    data = Partitions.of(
        frames.from_pandas(rows, npartitions=4), column="page", group="user", order="time"
    )
    assert count_pairs(data) == count_pairs(sequences())
    scores = local_hmm().score_sequences(data).compute().sort_values("user")
    assert scores["user"].tolist() == list(range(len(sequences())))
    np.testing.assert_allclose(
        scores["log_prob"], local_hmm().score_sequences(sequences()), atol=1e-9
    )


def test_rows_of_equal_order_stay_as_they_stand() -> None:
    import dask.dataframe as frames
    import pandas as pd

    rng = np.random.default_rng(0)
    times = pd.Categorical.from_codes(
        rng.integers(5, size=500), ["mon", "tue", "wed", "thu", "fri"], ordered=True
    )
    rows = pd.DataFrame(
        {"page": rng.integers(6, size=500), "user": rng.integers(7, size=500), "time": times}
    )
    for order in ("time", None):
        here = Sequences.from_frame(rows, "page", "user", order)
        data = frames.from_pandas(rows, npartitions=5, sort=False)
        assert count_pairs(Partitions.of(data, "page", "user", order)) == count_pairs(here), order


@pytest.mark.usefixtures("client")
def test_rows_that_are_together_are_not_moved() -> None:
    import dask.dataframe as frames
    import pandas as pd

    rows = pd.DataFrame(rows_of_symbols()).set_index("user").sort_index()
    data = frames.from_pandas(rows, npartitions=4)
    partitions = Partitions.of(data, column="page", group="user", order="time")
    graph = str(dict(partitions._backend.parts[0].__dask_graph__()))  # type: ignore[attr-defined]
    assert "shuffle" not in graph
    assert count_pairs(partitions) == count_pairs(sequences())
    # Without order rows are as they stand, wherever they are taken.
    in_time = rows.reset_index().sort_values(["time", "user"]).reset_index(drop=True)
    data = frames.from_pandas(in_time, npartitions=4)
    assert count_pairs(Partitions.of(data, "page", "user")) == count_pairs(sequences())


@pytest.mark.usefixtures("client")
def test_rows_that_were_shuffled_by_another_column_as_well_are_moved() -> None:
    import dask.dataframe as frames
    import pandas as pd

    frame = frames.from_pandas(pd.DataFrame(rows_of_symbols()), npartitions=4)
    for by in (["user", "time"], ["time"], "user"):
        data = Partitions.of(frame.shuffle(on=by), column="page", group="user", order="time")
        assert count_pairs(data) == count_pairs(sequences()), by


def test_a_file_that_is_missing_is_not_blamed_on_the_cluster(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a b\n")

    def opened(rows: Any) -> int:
        return len(open(tmp_path / "nowhere").read())

    with pytest.raises(FileNotFoundError):
        Partitions.of(path, client=client).map_sum(opened)


@pytest.mark.usefixtures("client")
def test_rows_of_an_array_are_sequences() -> None:
    from dask import array

    codes = np.random.default_rng(0).integers(0, 5, (60, 8))
    expected = count_pairs(list(codes))
    assert count_pairs(Partitions.of(array.from_array(codes, chunks=(17, 8)))) == expected
    assert count_pairs(Partitions.of(array.from_array(codes, chunks=(17, 3)))) == expected
    assert count_pairs(Partitions.of(array.from_array(codes[0], chunks=8))) == count_pairs(codes[0])


def test_a_sequence_that_would_be_cut_is_refused() -> None:
    from dask import array

    with pytest.raises(ValueError, match="one sequence in 4 blocks"):
        Partitions.of(array.zeros(16, chunks=4))


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("bad", [["a", "b"], [7]])
def test_a_wrong_row_is_named_with_its_partition(bad: list[Any]) -> None:
    data = Partitions.of(bags.from_delayed([*bag_of([["a", "b"]] * 4, 2).to_delayed(), _raw(bad)]))
    if bad == [7]:
        with pytest.raises(ValueError, match=r"partition 2: row 0 is 7.*group="):
            count_pairs(data)
    else:
        with pytest.raises(ValueError, match="no pair at lag 3"):
            count_pairs(data, lags=(3,))


def _raw(items: list[Any]) -> Any:
    from dask.delayed import delayed

    return delayed(list)(items)


@pytest.mark.usefixtures("client")
def test_partitions_with_other_symbols_are_told() -> None:
    data = Partitions.of(bag_of([["a", "b"], ["b", "a"], [0, 1], [1, 0]], 2))
    with pytest.raises(ValueError, match="labels, such as 'a', and others whole numbers"):
        as_data(data)
    with pytest.raises(ValueError, match="labels"):
        count_pairs(data)


@pytest.mark.usefixtures("client")
def test_partitions_without_rows_are_nothing() -> None:
    some = bag_of([["a", "b", "a"], [], ["b"]], 3).filter(lambda row: len(row) != 1)
    assert count_pairs(Partitions.of(some)) == count_pairs(["a", "b", "a"])
    nothing = some.filter(lambda row: False)
    for ask in (count_pairs, as_data):
        with pytest.raises(ValueError, match="there is no data"):
            ask(Partitions.of(nothing))
    with pytest.raises(ValueError, match="there is no document"):
        read_documents(Partitions.of(nothing))


def test_files_are_read_by_workers(client: Any, tmp_path: Path) -> None:
    for part in range(3):
        lines = [" ".join(sequence) for sequence in sequences()[part::3]]
        (tmp_path / f"{part}.txt").write_text("\n".join(lines) + "\n")
    data = Partitions.of(str(tmp_path / "*.txt"), client=client)
    assert data.n_partitions == 3
    assert count_pairs(data) == count_pairs(sequences())
    (tmp_path / "1.txt").write_bytes(b"a b\n\xff\xfe c\n")
    with pytest.raises(ValueError, match=r"1\.txt: this is not UTF-8 text: byte 4"):
        count_pairs(data)


def test_a_worker_killed_while_counting_changes_nothing(client: Any, tmp_path: Path) -> None:
    marker = tmp_path / "died"

    def dying(sequence: list[str]) -> list[str]:
        if not marker.exists() and sequence == sequences_here[40]:
            marker.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        return sequence

    sequences_here = sequences()
    data = Partitions.of(bag_of(sequences()).map(dying), client=client)
    assert count_pairs(data) == count_pairs(sequences())
    assert marker.exists()


def _die(rows: Any) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_workers_that_die_again_and_again_are_told(client: Any) -> None:
    data = Partitions.of(bag_of(sequences(), 1), client=client)
    with pytest.raises(EngineError, match=r"could not finish.*KilledWorker"):
        data.map_sum(_die)
    assert data.map_sum(len) == len(sequences())


def test_a_cluster_that_is_gone_is_told(client: Any) -> None:
    from distributed import Client

    gone = Client(client.scheduler.address)
    data = as_data(Partitions.of(bag_of(sequences()), client=gone))
    gone.close()
    with pytest.raises(EngineError, match="could not finish"):
        count_pairs(data)


def test_a_worker_killed_while_refining_changes_nothing(client: Any) -> None:
    killed: list[int] = []

    def kill(step: Any) -> None:
        if step.stage == "refinement" and step.n_iter == 2 and not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    data = as_data(Partitions.of(bag_of(sequences()), client=client))
    fit = pairwise(data, K, random_state=0, callback=kill)
    assert killed
    np.testing.assert_allclose(fit.model.emissionprob, local_hmm().emissionprob_, rtol=0, atol=1e-9)


@pytest.mark.usefixtures("client")
def test_only_sums_come_here() -> None:
    data = as_data(Partitions.of(bag_of(sequences())))
    here = Sequences.of(sequences())
    assert len(data) == len(here)
    assert data.n_observations == here.n_observations
    assert data.longest == here.longest
    np.testing.assert_array_equal(data.lengths, here.lengths)
    np.testing.assert_array_equal(data.symbol_counts, here.symbol_counts)
    first = np.array([2500, 0, 5500, 2500])
    np.testing.assert_array_equal(
        data.spans(first, first + 7).symbols, here.spans(first, first + 7).symbols
    )
