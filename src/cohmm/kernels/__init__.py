"""Python's side of the native core: arrays in, arrays out, and the threads that share the work.

The core is `cohmm._native`, whose ``level`` is that of x86-64 (2, 3 or 4; 0 elsewhere).
"""

from __future__ import annotations

import sys

try:
    from cohmm._native import level as level
except ImportError as error:
    if error.name != "cohmm._native":
        raise  # the module itself says what is wrong
    raise ImportError(
        f"the native core of cohmm is not built for {sys.executable}: "
        f"install cohmm with this Python's pip again ({error})"
    ) from None
