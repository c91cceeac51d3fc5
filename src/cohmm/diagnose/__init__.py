"""Can a fit be trusted: how sure each number is."""

from cohmm.diagnose.bootstrap import Bootstrap as Bootstrap
from cohmm.diagnose.standard_errors import Interval as Interval
from cohmm.diagnose.standard_errors import StandardErrors as StandardErrors
from cohmm.diagnose.standard_errors import Tables as Tables
from cohmm.diagnose.topic_errors import TopicErrors as TopicErrors

__all__ = ["Bootstrap", "Interval", "StandardErrors", "Tables", "TopicErrors"]
