# SPDX-License-Identifier: Apache-2.0
"""How many bytes a block takes that holds an object of a given size, by allocator.

Each is the rule that the allocator publishes, for requests up to 8 KiB; a test compares it with
malloc_usable_size under the allocator itself.
"""

from __future__ import annotations

SMALL_BYTES_MAX = 8192


def up(value: int, step: int) -> int:
    return -(-value // step) * step


def steps_per_doubling(size: int, steps: int, linear_up_to: int, linear_step: int) -> int:
    """Multiples of a step, then so many sizes for each power of two."""
    if size <= linear_up_to:
        return up(size, linear_step)
    doubling = 1 << (size - 1).bit_length() - 1
    return up(size, doubling // steps)


def glibc(size: int) -> int:
    """A word in front; multiples of 16, at least 32."""
    return max(up(size + 8, 16), 32)


def jemalloc(size: int) -> int:
    """8, multiples of 16 up to 128, then four for each doubling."""
    return 8 if size <= 8 else steps_per_doubling(size, 4, 128, 16)


def mimalloc(size: int) -> int:
    """8 and multiples of 16 up to 128 (alignment of 16), then four for each doubling."""
    return 8 if size <= 8 else steps_per_doubling(size, 4, 128, 16)


def strid(size: int) -> int:
    """The slab allocator (engine/memory/size_class.hpp): multiples of 16 to 128, 4 a doubling."""
    return steps_per_doubling(size, 4, 128, 16)


def tlsf(size: int) -> int:
    """A word in front; multiples of 16, at least 32."""
    return glibc(size)


ALLOCATORS = {
    "glibc": glibc,
    "jemalloc": jemalloc,
    "mimalloc": mimalloc,
    "strid": strid,
    "tlsf": tlsf,
}


def blocks(size: int) -> dict[str, int]:
    """Bytes of the block of one object of `size` bytes, where it is small enough to say."""
    if not 0 < size <= SMALL_BYTES_MAX:
        return {}
    return {name: rule(size) for name, rule in ALLOCATORS.items()}
