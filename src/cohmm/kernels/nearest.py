"""What is nearest: of K centres to a point, and of all mixtures of K distributions to another.

`two_nearest` takes distances, (K, n).  NumPy: ``labels = distance.argmin(axis=0);
least, second = np.partition(distance, 1, axis=0)[:2]``; of one centre alone, the second is at
infinity.

`move_centres`: the centres (K, d) that have ``changed`` become the weighted means of their points
(n, d).  NumPy, for each of them: ``np.average(points[labels == k], axis=0, weights=...)``.

Mixtures: for every target q the weights c, at least 0 and summing to one, that minimise

    squares       | q - c B |^2              from the products B B' and q B' alone
    divergence    sum_v q_v log(q_v / (c B)_v)

Both write weights, (n, K), of the targets in ``part``, and return how many have not converged:
the objective may be above its minimum by ``tol``.  Of `nearest_by_squares`, ``gram`` is B B',
(K, K), symmetric and scaled so that its diagonal is near one; ``targets`` is q B', (n, K).  Of
`nearest_by_divergence`, ``table`` is B', (V, K), and the targets are sparse rows.
"""

from __future__ import annotations

from cohmm._native import move_centres as move_centres
from cohmm._native import nearest_by_divergence as nearest_by_divergence
from cohmm._native import nearest_by_squares as nearest_by_squares
from cohmm._native import two_nearest as two_nearest
