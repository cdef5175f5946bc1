# SPDX-License-Identifier: Apache-2.0
"""pytest plugin of cufault: collects scenario files, and runs marked tests in a process of their own under faults."""
