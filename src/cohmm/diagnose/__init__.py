"""Can a fit be trusted: how many states, which are well determined, does the model fit."""

from cohmm.diagnose.diagnosis import Diagnosis as Diagnosis
from cohmm.diagnose.diagnosis import diagnose as diagnose
from cohmm.diagnose.model_fit import ModelFit as ModelFit
from cohmm.diagnose.scatter import Scatter as Scatter
from cohmm.diagnose.selection import Selection as Selection
from cohmm.diagnose.selection import select as select

__all__ = ["Diagnosis", "ModelFit", "Scatter", "Selection", "diagnose", "select"]
