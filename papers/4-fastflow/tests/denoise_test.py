# SPDX-License-Identifier: Apache-2.0
"""strid denoise against an oracle in numpy, with files by Pillow, and against bad input."""

import unittest

from denoise_failures import BadInput
from denoise_forms import PngForms, Sequences, WorkersAndSame
from denoise_phases import Detection, Noise, Quality, RestorationOfNoise

__all__ = ["BadInput", "Detection", "Noise", "PngForms", "Quality", "RestorationOfNoise",
           "Sequences", "WorkersAndSame"]

if __name__ == "__main__":
    unittest.main()
