# SPDX-License-Identifier: Apache-2.0
"""The libraries that scenarios drive; each is one small file that says how to do each step and what it cannot do."""
