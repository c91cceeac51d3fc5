"""Kernels in numba: arrays in, arrays out.  They import nothing of ours but each other."""
