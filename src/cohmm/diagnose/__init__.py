"""Can a fit be trusted: how many states, how sure each number is, does the model fit."""

from cohmm.diagnose.bootstrap import Bootstrap as Bootstrap
from cohmm.diagnose.diagnosis import Diagnosis as Diagnosis
from cohmm.diagnose.diagnosis import diagnose as diagnose
from cohmm.diagnose.model_fit import ModelFit as ModelFit
from cohmm.diagnose.scatter import Scatter as Scatter
from cohmm.diagnose.selection import Selection as Selection
from cohmm.diagnose.selection import select as select
from cohmm.diagnose.standard_errors import Interval as Interval
from cohmm.diagnose.standard_errors import StandardErrors as StandardErrors
from cohmm.diagnose.standard_errors import Tables as Tables
from cohmm.diagnose.topic_errors import TopicErrors as TopicErrors

__all__ = [
    "Bootstrap",
    "Diagnosis",
    "Interval",
    "ModelFit",
    "Scatter",
    "Selection",
    "StandardErrors",
    "Tables",
    "TopicErrors",
    "diagnose",
    "select",
]
