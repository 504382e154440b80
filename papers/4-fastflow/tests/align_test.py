# SPDX-License-Identifier: Apache-2.0
"""strid-align. Random values are drawn by seed."""

import unittest

from align_endings import Endings, Input  # noqa: F401
from align_results import Results  # noqa: F401
from align_sam import Fastq, Sam  # noqa: F401
from align_scores import RealProteins, Scores  # noqa: F401

if __name__ == "__main__":
    unittest.main()
