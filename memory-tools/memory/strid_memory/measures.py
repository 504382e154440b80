# SPDX-License-Identifier: Apache-2.0
"""The measures of a run, and the kernel's figures about the memory of the machine around it."""

import dataclasses
import pathlib
import re

MIB = 1024 * 1024
# 2 MiB where a page has 4 KiB: the size of a huge page.
HUGE_ORDER = 9
TRACING = [pathlib.Path("/sys/kernel/tracing"), pathlib.Path("/sys/kernel/debug/tracing")]
EVENT = "events/kmem/mm_page_alloc_extfrag/id"


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number of each run. `scale` divides it for people, `more_is_better` is for the advice."""

    key: str
    title: str
    unit: str
    scale: float = 1
    digits: int = 3
    more_is_better: bool = False
    note: str = ""

    @property
    def label(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def text(self, value: float) -> str:
        """The value in the measure's unit; four digits that count, at most `digits` decimals."""
        value /= self.scale
        size = abs(value)
        decimals = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3
        return f"{value:.{min(decimals, self.digits)}f}"


WALL = Measure("wall_s", "Response time", "s", note="from the exec to the end of the command")
MEASURES = [
    WALL,
    Measure("processor_s", "Processor time", "s", note="user and system, all processes"),
    Measure(
        "peak_bytes",
        "Peak resident memory",
        "MiB",
        MIB,
        note="of the largest process or of the sampled sum over all processes, whichever is more",
    ),
    Measure(
        "mean_bytes",
        "Mean resident memory",
        "MiB",
        MIB,
        note="over time, sampled, summed over all processes; shared pages count in each",
    ),
    Measure("minor_faults", "Minor page faults", "", digits=1),
    Measure("major_faults", "Major page faults", "", digits=1),
    Measure(
        "not_live_bytes",
        "Memory held and not live",
        "MiB",
        MIB,
        note="the peak of resident memory less the peak of live bytes of one traced run; the code"
        " and the stacks of the command are in it under every allocator alike; less than nothing"
        " where the command asks for memory that it never touches",
    ),
    Measure(
        "unusable_change",
        "Change of the unusable free memory",
        "% of free memory",
        note="free memory of the whole machine that lies in blocks smaller than a huge page, after"
        " the run less before it; other programs change it too",
    ),
    Measure(
        "extfrag_events",
        "Fragmentation events",
        "",
        digits=1,
        note="kmem:mm_page_alloc_extfrag of the command's processes: the kernel took pages from a"
        " block of another kind",
    ),
]


def free_blocks() -> list[int] | None:
    """Free blocks of 2^order pages by order, all zones of the machine; None where hidden."""
    try:
        lines = pathlib.Path("/proc/buddyinfo").read_text().splitlines()
    except OSError:
        return None
    rows = [[int(n) for n in re.findall(r"\d+", line.partition("zone")[2])] for line in lines]
    return [sum(column) for column in zip(*rows)] or None


def unusable_part(blocks: list[int]) -> float:
    """The part of free memory, in %, that cannot serve as a huge page: the kernel's unusable free
    space index at that order."""
    pages = [count << order for order, count in enumerate(blocks)]
    return 100 * sum(pages[:HUGE_ORDER]) / sum(pages) if sum(pages) else 0.0


def extfrag_event() -> tuple[int | None, str | None]:
    """The id of the kernel's fragmentation event, or why there is none."""
    reason = "tracefs is not mounted (mount -t tracefs none /sys/kernel/tracing, as root)"
    for folder in TRACING:
        try:
            return int((folder / EVENT).read_text()), None
        except FileNotFoundError:
            continue
        except PermissionError:
            reason = f"{folder} may not be read: the events need root, or a tracefs that is open"
        except (OSError, ValueError) as error:
            reason = f"{folder / EVENT}: {error}"
    return None, reason
