"""Mixtures of K given distributions that come nearest to many others.

For every target q the weights c, at least 0 and summing to one, that minimise

    squares       | q - c B |^2              from the products B B' and q B' alone
    divergence    sum_v q_v log(q_v / (c B)_v)

Both write weights, (n, K), of the targets in ``part``, and return how many have not converged:
the objective may be above its minimum by ``tol``.  Of `nearest_by_squares`, ``gram`` is B B',
(K, K), symmetric and scaled so that its diagonal is near one; ``targets`` is q B', (n, K).  Of
`nearest_by_divergence`, ``table`` is B', (V, K), and the targets are sparse rows.
"""

from __future__ import annotations

from cohmm._native import nearest_by_divergence as nearest_by_divergence
from cohmm._native import nearest_by_squares as nearest_by_squares
