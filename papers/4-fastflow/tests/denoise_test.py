# SPDX-License-Identifier: Apache-2.0
"""strid denoise against an oracle in numpy, with files by Pillow, and against bad input."""

import unittest

from denoise_failures import BadInput
from denoise_forms import PngForms, Sequences, WorkersAndSame
from denoise_images import DamagedImages, Jpeg, Netpbm, Targets
from denoise_phases import Detection, Noise, Quality, RestorationOfNoise
from denoise_tiff import Tiff

__all__ = ["BadInput", "DamagedImages", "Detection", "Jpeg", "Netpbm", "Noise", "PngForms",
           "Quality", "RestorationOfNoise", "Sequences", "Targets", "Tiff", "WorkersAndSame"]

if __name__ == "__main__":
    unittest.main()
