# SPDX-License-Identifier: Apache-2.0
"""Seeds of tests of random cases, which name the seed of a case that fails.

STRID_SEED repeats that case. With STRID_CASES as well it is the first of many, as continuous
integration has it; without it the seeds are fresh ones. STRID_CASES is how many cases the largest
test tries, 300 where nothing is said, and the others in proportion.
"""
import os
import random

USUAL_CASES = 300


def seeds(usual):
    """Of a test that tries so many cases where nothing is said."""
    given = os.environ.get("STRID_SEED")
    cases = os.environ.get("STRID_CASES")
    first = int(given) if given else random.SystemRandom().randrange(10**6)
    count = max(1, usual * int(cases or USUAL_CASES) // USUAL_CASES)
    return range(first, first + (1 if given and not cases else count))
