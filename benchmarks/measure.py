"""CPU seconds and peak memory of one call."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil


class Cost(NamedTuple):
    cpu: float  # the least of several runs, in seconds
    memory: float  # the peak above what was there before, in bytes
    value: Any


def cost(call: Callable[[], Any], repeats: int = 3) -> Cost:
    """Run ``call`` once to warm up (compilation, caches), then ``repeats`` times."""
    call()
    memory, value = peak_memory(call)
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        value = call()
        seconds.append(time.process_time() - began)
    return Cost(min(seconds), memory, value)


def peak_memory(call: Callable[[], Any]) -> tuple[float, Any]:
    """The highest resident memory during ``call``, less what it was before."""
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    forget = Path("/proc/self/clear_refs")
    try:
        forget.write_text("5")  # Linux: begin a new high-water mark
    except OSError:
        return _sampled_peak(process, before, call)
    value = call()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return max(0.0, int(line.split()[1]) * 1024 - before), value
    return 0.0, value


def _sampled_peak(
    process: psutil.Process, before: int, call: Callable[[], Any]
) -> tuple[float, Any]:
    highest, done = before, threading.Event()

    def watch() -> None:
        nonlocal highest
        while not done.wait(0.001):
            highest = max(highest, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        value = call()
    finally:
        done.set()
        watcher.join()
    return float(highest - before), value
