"""Threads for kernels that have let go of the interpreter's lock.

Kernels are compiled with ``nogil`` and know nothing of threads.  Whoever calls them
cuts the work into parts, in a way that depends on the data alone, and hands the parts
to `run`: so any number of threads gives the same result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import islice, pairwise
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")

_chosen: ContextVar[int | None] = ContextVar("cohmm_threads", default=None)


def n_threads() -> int:
    """How many threads are used: `threads`, else COHMM_THREADS, else all cores we may use."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    text = os.environ.get("COHMM_THREADS", "")
    if text:
        if re.fullmatch("0*[1-9][0-9]{0,8}", text) is None:
            raise ValueError(f"COHMM_THREADS must be a whole number from 1, not {text!r}")
        return int(text)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use ``n`` threads inside the block.

    So does BLAS, in the whole process, where it had more.  (Inside learners it has one.)

    >>> with threads(1):
    ...     n_threads()
    1
    """
    if n < 1:
        raise ValueError(f"the number of threads must be at least 1, not {n}")
    blas = ThreadpoolController().select(user_api="blas")
    most = max((pool["num_threads"] for pool in blas.info()), default=1)
    token = _chosen.set(n)
    try:
        with blas.limit(limits=min(n, most)):
            yield
    finally:
        _chosen.reset(token)


def run(task: Callable[..., T], parts: Sequence[tuple[Any, ...]]) -> list[T]:
    """``[task(*part) for part in parts]``, on as many threads as `n_threads` says.

    A task must not call `run` itself: it might wait for a thread that waits for it.
    """
    workers = min(n_threads(), len(parts))
    if workers <= 1:
        return [task(*part) for part in parts]
    return list(_pool(workers).map(lambda part: task(*part), parts))


def one_ahead(items: Iterable[T]) -> Generator[T]:
    """The same items, of which the next is made on a thread while one is worked on."""
    if n_threads() == 1:
        yield from items
        return
    iterator, context = iter(items), copy_context()

    def following() -> list[T]:
        return list(islice(iterator, 1))

    with helpers(1) as pool:
        under_way = pool.submit(context.run, following)
        while found := under_way.result():
            under_way = pool.submit(context.run, following)
            yield found[0]


@contextmanager
def helpers(n: int) -> Iterator[ThreadPoolExecutor]:
    """``n`` threads for a generator, which has no say in when and where it ends.

    One that was left half-way is closed by the garbage collector, which may come upon it while
    a thread starts and holds the lock that waiting for another needs: so nobody waits for these.
    """
    pool = ThreadPoolExecutor(n)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    """Threads that are kept: a pass over small data is shorter than starting them."""
    return ThreadPoolExecutor(workers, thread_name_prefix="cohmm")


if hasattr(os, "register_at_fork"):  # threads do not survive in a child process
    os.register_at_fork(after_in_child=_pool.cache_clear)


def split(n: int, parts: int) -> list[tuple[int, int]]:
    """``n`` things in at most ``parts`` contiguous ranges of nearly equal size.

    >>> split(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    parts = max(1, min(parts, n))
    cuts = [n * part // parts for part in range(parts + 1)]
    return list(pairwise(cuts))
