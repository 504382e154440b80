# SPDX-License-Identifier: Apache-2.0
"""strid memory: a trace of a program's allocations, its run under each allocator, its layouts."""
