"""Python's side of the native core: what kernels are given, and the threads that share the work.

The kernels are functions of `native`; what each computes is written above its declaration in
``_native/plain.hpp``, or in the head of its file there.  They write into arrays that they are
given.  ``level`` is that of x86-64 (2, 3 or 4; 0 elsewhere).
"""

from __future__ import annotations

import sys

__all__ = ["level", "native"]

try:
    import cohmm._native as native
except ImportError as error:
    if error.name != "cohmm._native":
        raise  # the module itself says what is wrong
    raise ImportError(
        f"the native core of cohmm is not built for {sys.executable}: "
        f"install cohmm with this Python's pip again ({error})"
    ) from None

level = native.level
