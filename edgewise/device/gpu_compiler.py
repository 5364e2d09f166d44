"""The compiler of kernels for GPUs, imported when the first of them is compiled.

It is numba-cuda, or with ``EDGEWISE_CUDA_COMPILER=mlir`` its successor numba-cuda-mlir.  Both have the same
names, and types of their own.
"""

from edgewise.device.target import IS_MLIR

if IS_MLIR:
    from edgewise.device.cuda_by_mlir import *  # noqa: F403
else:
    from edgewise.device.cuda_by_llvm import *  # noqa: F403
