# SPDX-License-Identifier: Apache-2.0
"""The oracle of the tests of Parquet, pyarrow, from where scripts/install-dependencies puts it or
where Python has it, and what they do with it."""

import csv
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parents[2] / "build/peers/arrow"))
try:
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet
except ImportError:
    pyarrow = None

from transport_case import STRID, TIMEOUT_S, Ticks, TransportCase

FIELDS = ("symbol", "window_start", "window_end", "n", "total")


@unittest.skipIf(pyarrow is None, "pyarrow is not installed")
class ParquetCase(TransportCase):
    @staticmethod
    def table(ticks: Ticks):
        at, symbol, price = zip(*ticks.rows)
        return pyarrow.table({"at": pyarrow.array(at, pyarrow.int64()), "symbol": symbol,
                              "price": pyarrow.array(price, pyarrow.int32()),
                              "note": ['a "note",\nof two lines'] * len(at),
                              "nested": [[1, 2]] * len(at)})

    def write(self, ticks: Ticks, name: str, groups: int = 7) -> str:
        """Ticks as a file of some groups of rows, two of whose columns nothing asks for."""
        table = self.table(ticks)
        pyarrow.parquet.write_table(table, self.folder / name,
                                    row_group_size=max(1, table.num_rows // groups))
        return name

    def strid(self, *options: str) -> None:
        """Computes windows."""
        done = subprocess.run([STRID, "window", "--quiet", *options], cwd=self.folder,
                              capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def elsewhere(self) -> Path:
        """A folder of another file system."""
        place = next((place for place in (Path("/dev/shm"), Path("/var/tmp")) if place.is_dir()
                      and place.stat().st_dev != self.folder.stat().st_dev), None)
        if place is None:
            self.skipTest("there is one file system")
        place = Path(tempfile.mkdtemp(dir=place))
        self.addCleanup(shutil.rmtree, place)
        return place

    def of_csv(self, name: str) -> list[tuple]:
        rows = list(csv.reader(io.StringIO((self.folder / name).read_text())))[1:]
        return sorted((row[0], *map(int, row[1:])) for row in rows)

    def parts(self, name: str) -> list[Path]:
        return sorted(path for path in (self.folder / name).rglob("*.parquet"))

    def bars(self, name: str) -> list[tuple]:
        """The rows of all parts of a folder, each read by itself."""
        return sorted(row for path in self.parts(name) for row in self.rows_of(path))

    def rows_of(self, path: Path) -> list[tuple]:
        rows = pyarrow.parquet.ParquetFile(path).read().to_pylist()
        return sorted(tuple(row[field] for field in FIELDS) for row in rows)
