"""Points and the centres of their clusters: which is nearest, and where the centres are.

`two_nearest` takes distances, (K, n).  NumPy: ``labels = distance.argmin(axis=0);
least, second = np.partition(distance, 1, axis=0)[:2]``; of one centre alone, the second is at
infinity.

`move_centres`: the centres (K, d) that have ``changed`` become the weighted means of their points
(n, d).  NumPy, for each of them: ``np.average(points[labels == k], axis=0, weights=...)``.
"""

from __future__ import annotations

from cohmm._native import move_centres as move_centres
from cohmm._native import two_nearest as two_nearest
