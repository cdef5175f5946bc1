# SPDX-License-Identifier: Apache-2.0
"""cufault makes CUDA driver calls fail on purpose and judges how the code above them copes."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["__version__"]
