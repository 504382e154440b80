# SPDX-License-Identifier: Apache-2.0
"""Layouts of classes: read from debug information, judged by cache lines and sizes of blocks."""
