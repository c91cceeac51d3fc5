"""Can a fit be trusted: how many states, how sure each number is, does the model fit."""

from cohmm.diagnose.bootstrap import Bootstrap
from cohmm.diagnose.diagnosis import Diagnosis, diagnose
from cohmm.diagnose.intervals import Interval, Tables
from cohmm.diagnose.model_fit import ModelFit
from cohmm.diagnose.scatter import Scatter
from cohmm.diagnose.selection import Selection, select
from cohmm.diagnose.standard_errors import StandardErrors
from cohmm.diagnose.topic_errors import TopicErrors

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
