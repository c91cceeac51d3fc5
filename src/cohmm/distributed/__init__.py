"""Data on many machines: `Partitions` of a Dask or Spark collection, or of files."""

from cohmm.distributed.partitions import Partitions

__all__ = ["Partitions"]
