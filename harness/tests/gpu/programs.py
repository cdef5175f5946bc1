# SPDX-License-Identifier: Apache-2.0
"""The smallest program of each library that reaches the driver its own way, and a call of it that can be refused."""

from __future__ import annotations

from dataclasses import dataclass

OBJECTS = """
from {module} import Device
device = Device(0)
device.set_current()
stream = device.create_stream()
event = stream.record()
buffer = device.allocate(1024, stream=stream)
stream.sync()
"""


@dataclass(frozen=True)
class Program:
    """`module` must be importable; `at` is the fault's place; the program fails when that call is refused."""

    module: str
    text: str
    at: str = "cuLaunchKernel*"


PROGRAMS = {
    "reference": Program("cufault.reference", OBJECTS.format(module="cufault.reference"), "cuStreamCreate*"),
    "cuda.core": Program("cuda.core", OBJECTS.format(module="cuda.core"), "cuStreamCreate*"),
    "CuPy": Program("cupy", "import cupy\nassert int((cupy.arange(100) * 2).sum()) == 9900\n"),
    "PyTorch": Program("torch", "import torch\nassert float((torch.ones(100, device='cuda') * 2).sum()) == 200\n"),
    "JAX": Program(
        "jax",
        "import os\nos.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'\nimport jax.numpy\n"
        "assert float((jax.numpy.ones(100) * 2).sum()) == 200\n",
    ),
    "numba-cuda": Program(
        "numba.cuda",
        "from numba import cuda\nstream = cuda.stream()\n"
        "array = cuda.device_array(64, stream=stream)\nstream.synchronize()\n",
        "cuStreamCreate*",
    ),
    "Triton": Program(
        "triton",
        "import torch, triton, triton.language as tl\n@triton.jit\ndef add(x, BLOCK: tl.constexpr):\n"
        "    at = tl.arange(0, BLOCK)\n    tl.store(x + at, tl.load(x + at) + 1)\n"
        "x = torch.empty(64, device='cuda')\nadd[(1,)](x, BLOCK=64)\ntorch.cuda.synchronize()\n",
    ),
}
