import itertools
import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

import cohmm
from cohmm.data.readers.text import _ahead
from cohmm.kernels.threads import blas_threads, n_threads, one_ahead, run, split, threads


def test_the_context_is_left_as_it_was():
    before = n_threads()
    with threads(3):
        assert n_threads() == 3
        with threads(1):
            assert n_threads() == 1
        assert n_threads() == 3
    assert n_threads() == before
    with pytest.raises(RuntimeError), threads(5):
        raise RuntimeError
    assert n_threads() == before
    assert cohmm.threads is threads


def blas_threads_now():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_no_more_threads_and_gets_them_back():
    with threadpool_limits(2, "blas"):
        with threads(1):
            assert blas_threads_now() == {1}
            with threads(3):  # never more than there were
                assert blas_threads_now() == {1}
        assert blas_threads_now() == {2}
        with threads(5):
            assert blas_threads_now() == {2}


@pytest.mark.parametrize("first_left", [0, 1])
def test_limits_of_blas_that_overlap_hold_until_the_last_is_left(first_left):
    with threadpool_limits(4, "blas"):
        blocks = [blas_threads(1), blas_threads(2)]
        for block in blocks:
            block.__enter__()
            assert blas_threads_now() == {1}
        blocks.pop(first_left).__exit__(None, None, None)
        assert blas_threads_now() == {[2, 1][first_left]}
        blocks.pop().__exit__(None, None, None)
        assert blas_threads_now() == {4}


def test_what_others_set_meanwhile_is_not_undone():
    with threadpool_limits(4, "blas"):
        others = threadpool_limits(2, "blas")
        with threads(2):
            others.restore_original_limits()
            assert blas_threads_now() == {4}
            with threads(1):
                assert blas_threads_now() == {1}
        assert blas_threads_now() == {4}


def test_a_child_process_does_not_wait_for_the_limits_of_threads_it_does_not_have():
    with threadpool_limits(2, "blas"):
        entered, may_leave = threading.Event(), threading.Event()

        def fit():
            with blas_threads(1):
                entered.set()
                may_leave.wait(20)

        thread = threading.Thread(target=fit)
        thread.start()
        entered.wait(20)
        child = os.fork()
        if not child:
            with blas_threads(1):
                pass
            os._exit(blas_threads_now() != {2})
        may_leave.set()
        thread.join()
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("n", [0, -2])
def test_at_least_one_thread(n):
    with pytest.raises(ValueError, match=rf"at least 1, not {n}"), threads(n):
        pass


def test_the_environment_chooses_and_the_context_overrules(monkeypatch):
    monkeypatch.setenv("COHMM_THREADS", "7")
    assert n_threads() == 7
    with threads(2):
        assert n_threads() == 2


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", " ", "²", "9" * 5000])
def test_a_wrong_environment_is_named(monkeypatch, text):
    monkeypatch.setenv("COHMM_THREADS", text)
    with pytest.raises(ValueError, match=f"COHMM_THREADS.*'{text}'"):
        n_threads()


def test_without_a_choice_all_cores_are_used(monkeypatch):
    monkeypatch.delenv("COHMM_THREADS", raising=False)
    assert n_threads() >= 1


@pytest.mark.parametrize("n", [1, 2, 4])
def test_results_come_in_the_order_of_the_parts(n):
    with threads(n):
        assert run(lambda a, b: a * b, [(i, 2) for i in range(50)]) == list(range(0, 100, 2))
        assert run(lambda: 1, []) == []


def test_parts_run_at_the_same_time():
    barrier = threading.Barrier(2, timeout=20)
    with threads(2):
        assert sorted(run(lambda i: (barrier.wait(), i)[1], [(0,), (1,)])) == [0, 1]


@pytest.mark.parametrize("n", [1, 2])
def test_errors_come_through(n):
    def fail(part):
        raise KeyError(part)

    with threads(n), pytest.raises(KeyError):
        run(fail, [(1,), (2,), (3,)])


@pytest.mark.parametrize("n", [2, 3])
def test_a_task_may_run_tasks_itself(n):
    def inner(i):
        with threads(n):
            return sum(run(lambda j: i * j, [(j,) for j in range(4)]))

    with threads(n):
        assert run(inner, [(i,) for i in range(8)]) == [6 * i for i in range(8)]


def test_the_first_error_in_order_is_told_and_what_waits_is_dropped():
    done = []

    def task(i):
        done.append(i)
        if i in (3, 5):
            raise KeyError(i)

    for _ in range(20):
        with threads(3), pytest.raises(KeyError, match="3"):
            run(task, [(i,) for i in range(1000)])
    assert len(done) < 20 * 500


def test_work_after_the_main_program_has_ended(tmp_path):
    script = tmp_path / "late.py"
    script.write_text(
        """
import sys, threading, time
from concurrent.futures import thread as futures
from cohmm import PairwiseHMM
from cohmm.evidence.count_files import count_files
from cohmm.kernels.threads import one_ahead, run, threads

def late():
    while not futures._shutdown:
        time.sleep(0.01)
    with threads(3):
        assert run(lambda i: i, [(i,) for i in range(9)]) == list(range(9))
        assert list(one_ahead(range(5))) == list(range(5))
        assert count_files(sys.argv[0])
        data = [[0, 1, 1, 0, 2, 2, 1, 0, 0, 2] * 10] * 20
        model = PairwiseHMM(2, random_state=0).fit(data)
        assert model.bootstrap(3, data).models
        print("done")

with threads(3):
    run(abs, [(1,), (2,)])
threading.Thread(target=late).start()
"""
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.parametrize("ahead", [lambda task, items: one_ahead(map(task, items)), _ahead])
def test_nobody_waits_for_the_threads_of_a_generator_left_half_way(ahead):
    # The collector may close it where to wait would lock the process for good.
    may_end, ended = threading.Event(), []

    def task(item):
        if item:
            may_end.wait(20)
            ended.append(item)
        return item

    with threads(2):
        left = ahead(task, range(5))
        assert next(left) == 0
        left.close()
        assert ended == []
    may_end.set()


@given(st.integers(1, 1000), st.integers(1, 70))
def test_split_is_even_and_complete(n, parts):
    ranges = split(n, parts)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == n
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ranges))
    assert len(ranges) == min(n, parts)
    sizes = [stop - first for first, stop in ranges]
    assert max(sizes) - min(sizes) <= 1
