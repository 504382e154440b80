# SPDX-License-Identifier: Apache-2.0
"""The error that ends `strid memory` with one line and a status."""


class MemoryToolError(Exception):
    """A fault of the input, the command or the machine; its text is the line that is printed."""

    status = 1


class UsageError(MemoryToolError):
    """The command line asks for what does not exist."""

    status = 2
