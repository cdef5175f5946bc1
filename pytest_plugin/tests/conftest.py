# SPDX-License-Identifier: Apache-2.0
"""pytest's own harness for plugins."""

pytest_plugins = ["pytester"]
