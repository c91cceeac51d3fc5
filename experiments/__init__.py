"""The paper's synthetic experiments, one file a figure, on the public interface of cohmm.

    cohmm reproduce             # what there is
    cohmm reproduce all         # about an hour on two cores
    cohmm reproduce all --quick # small sizes, a minute or two

Every file has an `EXPERIMENT`: its steps, each of which is kept when it is done, and how
their rows are drawn and summed up.
"""

from .error_large import EXPERIMENT as ERROR_LARGE
from .error_small import EXPERIMENT as ERROR_SMALL
from .experiment import Experiment, Plan
from .overcomplete import EXPERIMENT as OVERCOMPLETE
from .pairs_vs_triples import EXPERIMENT as PAIRS_VS_TRIPLES
from .reuters import EXPERIMENT as REUTERS
from .steps import Kept, run
from .timing import EXPERIMENT as TIME
from .volume_ratio import EXPERIMENT as VOLUME_RATIO

__all__ = ["EXPERIMENTS", "Experiment", "Kept", "Plan", "run"]

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        ERROR_LARGE,
        ERROR_SMALL,
        TIME,
        VOLUME_RATIO,
        PAIRS_VS_TRIPLES,
        OVERCOMPLETE,
        REUTERS,
    )
}
