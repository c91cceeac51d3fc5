"""What the command ``cohmm`` runs, and ``python -m cohmm``."""

from __future__ import annotations

import atexit
import os
import signal
import sys

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Run the command line; an interrupt ends it at once, also while modules are imported."""
    atexit.register(_leave)  # the first to be registered is the last to be called
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from cohmm.cli import main as run

    run()


def _leave() -> None:
    """All is written, and the exit code stands: a signal no longer changes it.

    Python puts the system's own handlers back before it takes its modules down, which takes a
    while, and a signal would end the process as if it had failed.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: object) -> None:
    """Remove what is half written, and leave.

    An exception would do the same, but libraries that are being imported or compiled may
    swallow it, or turn it into another.
    """
    if "cohmm.atomic_write" in sys.modules:
        sys.modules["cohmm.atomic_write"].abandon()
    if os.isatty(2):
        os.write(2, b"\r\x1b[K\x1b[?25h")  # a progress bar goes, and the cursor is back
    os.write(2, b"cohmm: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
