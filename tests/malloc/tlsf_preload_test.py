# SPDX-License-Identifier: Apache-2.0
"""libstrid_tlsf.so under programs, and under threads and forks that check their memory."""

import os
import random
import unittest

from preload_programs import Preloaded

SEED = os.environ.get("STRID_TEST_SEED", random.SystemRandom().randrange(1 << 32))
print(f"seed {SEED}")


class Tlsf(Preloaded):
    def test_threads_and_forks_find_their_memory_as_they_left_it(self):
        self.assertEqual(self.output(os.environ["STRESS"], SEED), b"kept\n")

    def test_without_memory_there_is_an_error_and_no_crash(self):
        ask = "\n".join([
            "import ctypes, resource",
            "resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))",
            "library = ctypes.CDLL(None, use_errno=True)",
            "library.malloc.restype = ctypes.c_void_p",
            "count = 0",
            "while library.malloc(ctypes.c_size_t(100000)): count += 1",
            "print(100 < count < 3000, ctypes.get_errno() == 12)",
        ])  # fmt: skip
        self.assertEqual(self.output("python3", "-S", "-c", ask), b"True True\n")


del Preloaded  # its cases run as those of the class above

if __name__ == "__main__":
    unittest.main()
