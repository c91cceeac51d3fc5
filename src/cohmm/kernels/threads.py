"""Threads for kernels, which release the interpreter's lock.

Kernels know nothing of threads.  Their callers cut the work into parts, in a way that depends on
the data alone, and hand the parts to `run`: so any number of threads gives the same result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import islice, pairwise
from threading import RLock, get_ident
from typing import Any, Generic, TypeVar

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
    token = _chosen.set(n)
    try:
        with blas_threads(n):
            yield
    finally:
        _chosen.reset(token)


class _BlasPool:
    """The threads of one BLAS library, what others have set them to, and what we have."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._others = self._ours = library.num_threads

    def limit(self, limits: Iterable[int]) -> None:
        """As many threads as the least of the limits, and as others have set."""
        now = self._library.num_threads
        if now != self._ours:  # others have changed their minds since
            self._others = now
        self._ours = min([self._others, *limits])
        if self._ours != now:
            self._library.set_num_threads(self._ours)


class _BlasLimits:
    """The limits that hold at present, of all threads: BLAS has one setting per process.

    Blocks of several threads overlap in any order.  If each restored what it came upon, the last
    to leave might restore the limit of another.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # the garbage collector may close a block while another is entered
        self._limits: dict[object, tuple[int, int]] = {}
        self._pools: dict[str, _BlasPool] = {}

    def enter(self, block: object, n: int) -> None:
        """A limit that holds until its block is left."""
        with self._lock:
            for library in ThreadpoolController().select(user_api="blas").lib_controllers:
                if library.filepath not in self._pools:
                    self._pools[library.filepath] = _BlasPool(library)
            self._limits[block] = n, get_ident()
            self._apply()

    def leave(self, block: object) -> None:
        """Others' limits stay; after the last, BLAS has its own threads again."""
        with self._lock:
            self._limits.pop(block, None)
            self._apply()
            if not self._limits:
                self._pools.clear()

    def _apply(self) -> None:
        for pool in list(self._pools.values()):
            pool.limit([n for n, _ in self._limits.values()])

    def after_fork(self) -> None:
        """Of all threads only the one that has forked is there to leave its blocks."""
        self._lock = RLock()
        here = get_ident()
        self._limits = {
            block: (n, thread) for block, (n, thread) in self._limits.items() if thread == here
        }


_blas_limits = _BlasLimits()


@contextmanager
def blas_threads(n: int) -> Iterator[None]:
    """BLAS has at most ``n`` threads inside the block, or function, in the whole process.

    With several it adds up in another order for each number of them.
    """
    block = object()
    try:
        _blas_limits.enter(block, n)
        yield
    finally:
        _blas_limits.leave(block)


class _Once(Generic[T]):
    """A call that one thread makes, whichever comes first; its future has the outcome."""

    def __init__(self, task: Callable[..., T], arguments: tuple[Any, ...]) -> None:
        self.future: Future[T] = Future()
        self._waiting = [(task, arguments)]

    def __call__(self) -> None:
        try:
            task, arguments = self._waiting.pop()
        except IndexError:  # another thread makes it
            return
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(task(*arguments))
        except BaseException as error:
            self.future.set_exception(error)
            raise


def run(task: Callable[..., T], parts: Sequence[tuple[Any, ...]]) -> list[T]:
    """``[task(*part) for part in parts]``, on as many threads as `n_threads` says.

    One of them is the thread that calls, which never waits for one that has not begun: where no
    other can be had, as none can when the main program has ended, it does all by itself.
    """
    workers = min(n_threads(), len(parts))
    if workers <= 1:
        return [task(*part) for part in parts]
    calls = [_Once(task, part) for part in parts]
    try:
        with suppress(RuntimeError):  # no more threads
            for _ in range(workers - 1):
                _pool(workers - 1).submit(_all_of, calls)
        _all_of(calls)
        return [call.future.result() for call in calls]
    finally:
        for call in calls:
            call.future.cancel()


def _all_of(calls: list[_Once[T]]) -> None:
    """Make the calls that no other thread makes, until one fails: its future has the error."""
    with suppress(Exception):
        for call in calls:
            call()


def submit(pool: ThreadPoolExecutor, task: Callable[..., T], *arguments: Any) -> Future[T]:
    """A call on a thread of the pool, or here and now where no more threads can be had."""
    call = _Once(task, arguments)
    try:
        pool.submit(call)
    except RuntimeError:
        with suppress(Exception):
            call()
    return call.future


def one_ahead(items: Iterable[T]) -> Generator[T]:
    """The same items, of which the next is made on a thread while one is worked on."""
    if n_threads() == 1:
        yield from items
        return
    iterator, context = iter(items), copy_context()

    def following() -> list[T]:
        return list(islice(iterator, 1))

    with helpers(1) as pool:
        under_way = submit(pool, context.run, following)
        while ready := under_way.result():
            under_way = submit(pool, context.run, following)
            yield ready[0]


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
    os.register_at_fork(after_in_child=_blas_limits.after_fork)


def split(n: int, parts: int) -> list[tuple[int, int]]:
    """``n`` things in at most ``parts`` contiguous ranges of nearly equal size.

    >>> split(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    parts = max(1, min(parts, n))
    cuts = [n * part // parts for part in range(parts + 1)]
    return list(pairwise(cuts))
