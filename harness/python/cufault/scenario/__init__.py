# SPDX-License-Identifier: Apache-2.0
"""Scenario files: read with positions (`load`), checked against the vocabulary, expanded into runs (`expand`).

A child that only runs steps imports `grammar` and nothing that reads YAML, so this file imports nothing.
"""
