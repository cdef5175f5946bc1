# SPDX-License-Identifier: Apache-2.0
"""Prints the build targets that an installation needs: running something does not wait for the tests to compile."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def products(build: Path) -> list[str]:
    """Files of installed targets, relative to the build folder, sorted; from what Meson tells of the build."""
    targets = json.loads((build / "meson-info/intro-targets.json").read_text(encoding="utf-8"))
    files = (Path(name) for target in targets if target["installed"] for name in target["filename"])
    return sorted(str(file.relative_to(build)) for file in files)


if __name__ == "__main__":
    sys.stdout.writelines(f"{product}\n" for product in products(Path(sys.argv[1]).resolve()))
