"""Data on many machines: `Partitions` of a Dask or Spark collection, or of files."""

from cohmm.distributed.backend import Partitions

__all__ = ["Partitions"]
