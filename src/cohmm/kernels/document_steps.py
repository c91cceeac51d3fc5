"""What chains over documents share: sums in a fixed order, and steps of forward and backward.

No kernel here, nor one that calls them, may reorder sums or fuse products by itself.  Vectorised
loops have a plain copy for arrays that are too near one another, and which one runs depends on
where memory happened to be free: the last bit of a sum would too.  `total` and `dot` have their
order in writing.
"""

from __future__ import annotations

from cohmm.kernels.compiled import Floats, Ints, Part, kernel


@kernel
def total(x: Floats) -> float:
    """The sum of ``x``, in eight parts, whatever its address."""
    a = b = c = d = e = f = g = h = 0.0
    whole = len(x) // 8 * 8
    for k in range(0, whole, 8):
        a += x[k]
        b += x[k + 1]
        c += x[k + 2]
        d += x[k + 3]
        e += x[k + 4]
        f += x[k + 5]
        g += x[k + 6]
        h += x[k + 7]
    for k in range(whole, len(x)):
        a += x[k]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def dot(x: Floats, y: Floats) -> float:
    """The sum of ``x * y``, in eight parts, whatever their addresses."""
    a = b = c = d = e = f = g = h = 0.0
    whole = len(x) // 8 * 8
    for k in range(0, whole, 8):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
        e += x[k + 4] * y[k + 4]
        f += x[k + 5] * y[k + 5]
        g += x[k + 6] * y[k + 6]
        h += x[k + 7] * y[k + 7]
    for k in range(whole, len(x)):
        a += x[k] * y[k]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def normalise(x: Floats) -> float:
    """Scale ``x`` to sum to one; what it summed to."""
    scale = total(x)
    inverse = 1.0 / scale
    for k in range(len(x)):
        x[k] *= inverse
    return scale


@kernel
def step_back(row: Floats, scale: float, beta: Floats, alpha: Floats, u: Floats) -> None:
    """``alpha`` of a word becomes gamma, its posterior; ``u`` becomes M[w] beta / z."""
    inverse = 1.0 / scale
    for k in range(len(beta)):
        alpha[k] *= beta[k]
        u[k] = row[k] * beta[k] * inverse


@kernel
def longest(begins: Ints, ends: Ints, part: Part) -> int:
    """The length of the longest document of a part, and 1 at least."""
    length = 1
    for d in range(part[0], part[1]):
        length = max(length, ends[d] - begins[d])
    return length


@kernel
def moved(p: Floats, prior: Floats, counts: Floats) -> float:
    """p ~ prior + counts; the largest change."""
    mass = total(prior) + total(counts)
    largest = 0.0
    for k in range(len(p)):
        value = (prior[k] + counts[k]) / mass
        largest = max(largest, abs(value - p[k]))
        p[k] = value
    return largest


@kernel
def keep_posteriors(gamma: Floats, begin: int, share: Floats, posteriors: Floats) -> None:
    """``share`` becomes the mean of the posteriors; they are kept where there is room."""
    share[:] = 0.0
    for t in range(len(gamma)):
        share += gamma[t]
    share /= share.sum()
    if len(posteriors):
        posteriors[begin : begin + len(gamma)] = gamma


@kernel
def keep_chosen(gamma: Floats, path: Ints, chosen: Floats) -> None:
    """``chosen[t]`` becomes the posterior of the topic that the path has at t."""
    for t in range(len(path)):
        chosen[t] = min(gamma[t, path[t]], 1.0)
