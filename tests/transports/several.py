#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of several files side by side.

    several.py STRID NAME...      of NAME_test.py
"""

import importlib
import sys
import unittest

from transport_case import SEED, side_by_side

print(f"STRID_SEED={SEED}")
sys.exit(side_by_side.run(unittest.TestSuite(
    unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"{name}_test"))
    for name in sys.argv[1:])))
