"""What the first minute costs: imports, the first fit in a new environment, the second.

    python benchmarks/first_call.py            # the table of docs/results.md
    python benchmarks/first_call.py --quick    # one estimator, one import

Every row is a process of its own; a new environment is one with an empty home folder, in which
nothing can have been kept.  Bytecode is there, as any installation has it.  CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

IMPORTS = {
    "import cohmm": "import cohmm",
    "from cohmm import HMM": "from cohmm import HMM",
    "from cohmm import PairwiseHMM": "from cohmm import PairwiseHMM",
    "from cohmm import HTMM": "from cohmm import HTMM",
    "import pyarrow.compute, scipy.linalg, scipy.sparse, scipy.special": """
import pyarrow.compute, scipy.linalg, scipy.sparse, scipy.special""",
    "import sklearn.base": "import sklearn.base",
}
FITS = {
    "PairwiseHMM(4).fit, 2,000 symbols": """
rng = np.random.default_rng(0)
states = np.cumsum(rng.random(2000) < .3) % 4
run = lambda y=2 * states + rng.integers(0, 2, 2000): cohmm.PairwiseHMM(4, random_state=0).fit(y)
""",
    "PairwiseHMM(4).fit, 200,000 symbols": """
rng = np.random.default_rng(0)
states = np.cumsum(rng.random(200_000) < .3) % 4
run = lambda y=2 * states + rng.integers(0, 2, 200_000): cohmm.PairwiseHMM(4, random_state=0).fit(y)
""",
    "HTMM(3).fit, 100 documents": """
rng = np.random.default_rng(0)
words = [[f"word{20 * topic + i}" for i in range(20)] for topic in range(3)]
texts = [" ".join(rng.choice(words[d % 3], 50)) for d in range(100)]
run = lambda: cohmm.HTMM(3, random_state=0).fit(texts)
""",
}
TIMED_IMPORT = """
import json, time
began = time.process_time()
{statement}
print(json.dumps(time.process_time() - began))
"""
TIMED_FIT = """
import json, time, warnings
import numpy as np
import cohmm
warnings.simplefilter("ignore")
cohmm.PairwiseHMM, cohmm.HTMM, cohmm.HMM
{setup}
seconds = []
for call in range(2):
    began = time.process_time()
    run()
    seconds.append(time.process_time() - began)
print(json.dumps(seconds))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows, to see that it runs")
    parser.add_argument("--repeats", type=int, default=5, help="of imports; the median is printed")
    arguments = parser.parse_args()
    imports, fits, repeats = list(IMPORTS.items()), list(FITS.items()), arguments.repeats
    if arguments.quick:
        imports, fits, repeats = imports[:1], fits[:1], 1
    print("| import, warm | CPU s |")
    print("|---|---:|")
    for name, statement in imports:
        code = TIMED_IMPORT.format(statement=statement)
        python(code)  # so that bytecode is there
        seconds = [python(code) for _ in range(repeats)]
        print(f"| `{name}` | {statistics.median(seconds):.2f} |", flush=True)
    print("\n| fit | new environment | second process | second call of a process |")
    print("|---|---:|---:|---:|")
    for name, setup in fits:
        code = TIMED_FIT.format(setup=setup)
        with tempfile.TemporaryDirectory() as home:
            first, _ = python(code, home)
            assert not any(Path(home).rglob("*")), "nothing is kept outside the package"
            second, call = python(code, home)
        print(f"| {name} | {first:.2f} | {second:.2f} | {call:.2f} |", flush=True)


def python(code: str, home: str | None = None) -> Any:
    """What a process of its own prints, as JSON."""
    environment = {**os.environ, **({"HOME": home, "XDG_CACHE_HOME": home} if home else {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
