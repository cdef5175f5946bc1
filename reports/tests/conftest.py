# SPDX-License-Identifier: Apache-2.0
"""Makes `sample` importable for the tests of this folder, however they are collected."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
