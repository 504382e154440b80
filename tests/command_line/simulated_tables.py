# SPDX-License-Identifier: Apache-2.0
"""Random tables for `strid window` and what they mean: rows whose values are known exactly, and the
many ways in which files write them. Nothing here knows the program under test.
"""
import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
COLUMNS = ["id", "at", "key", "side", "n", "x", "tag"]


class Row:
    """`n` is an integer or None, `x` a Decimal or None, `at` in nanoseconds."""

    def __init__(self, at, key, side, n, x, tag):
        self.at, self.key, self.side, self.n, self.x, self.tag = at, key, side, n, x, tag
        self.id = 0

    def texts(self, write_time):
        return {"id": str(self.id), "at": write_time(self.at), "key": self.key, "side": self.side,
                "n": None if self.n is None else str(self.n),
                "x": None if self.x is None else format(self.x, "f"), "tag": self.tag}


def random_rows(rng, step_ns):
    """In an order that is not that of time; every time is a whole number of `step_ns`."""
    spread = rng.choice([1, 5, 500, 3000])
    now = rng.choice([-50_000, 0, 1_700_000_000_000, 946_684_790_000])
    large = rng.random() < 0.2
    rows = []
    for number in range(rng.choice([1, 3, 40, 200, 600])):
        now += rng.randrange(200) if rng.random() > 0.01 else rng.randrange(60_000)
        behind = rng.randrange(spread) if rng.random() > 0.05 else rng.randrange(4 * spread + 1)
        at = (now - behind) * 10**6 // step_ns * step_ns
        most = 2**62 if large else 500
        n = None if rng.random() < 0.05 else rng.randrange(-most, most)
        x = None if rng.random() < 0.05 else Decimal(rng.randrange(-4000, 4000)) / 8
        row = Row(at, rng.choice("abcdefg"), rng.choice(["u", "v,w", 'q"r', "", "é;z"]), n, x,
                  rng.choice(["red", "green", "blue", ""]))
        row.id = number
        rows.append(row)
    return rows, spread


class TimeForm:
    """How times stand in the table; bounds are written in the same form."""

    def __init__(self, rng):
        self.kind = rng.choice(["integer", "integer", "fraction", "iso", "iso_space", "slashes"])
        self.unit = rng.choice(list(UNITS)) if self.kind == "integer" else "ms"
        self.step_ns = {"integer": UNITS[self.unit], "fraction": 10**6}.get(self.kind, 10**6)
        self.east = timezone(timedelta(minutes=rng.choice([0, 330, -450])))

    @property
    def is_local(self):
        return self.kind in ("iso_space", "slashes")

    @property
    def options(self):
        if self.kind == "fraction":
            return ["--unit", "s"]
        return ["--unit", self.unit] if self.kind == "integer" else []

    def write(self, ns, decimal_comma=False):
        if self.kind == "integer":
            return str(ns // UNITS[self.unit])
        if self.kind == "fraction":
            seconds = format(Decimal(ns) / 10**9, ".3f")
            return seconds.replace(".", ",") if decimal_comma else seconds
        at = EPOCH + timedelta(microseconds=ns // 1000)
        if self.kind == "iso":
            return at.astimezone(self.east).isoformat(timespec="milliseconds")
        if self.kind == "iso_space":
            return at.strftime("%Y-%m-%d %H:%M:%S.") + f"{at.microsecond // 1000:03}"
        return at.strftime("%Y/%m/%d %H:%M:%S.") + f"{at.microsecond // 1000:03}"

    def read_bound(self, text):
        """Nanoseconds of a bound in the output, exactly."""
        if self.kind == "integer":
            return int(text) * UNITS[self.unit]
        if self.kind == "fraction":
            return int(Decimal(text) * 10**9)
        text = text.replace("/", "-").replace("Z", "+00:00")
        whole, _, fraction = text.partition(".")
        zone = ""
        for sign in "+-":
            if sign in fraction:
                fraction, zone = fraction.split(sign)
                zone = sign + zone
        at = datetime.fromisoformat(whole + zone)
        if at.tzinfo is None:
            at = at.replace(tzinfo=timezone.utc)
        seconds = (at - EPOCH) // timedelta(seconds=1)
        return seconds * 10**9 + (int(fraction.ljust(9, "0")) if fraction else 0)


class Dialect:
    """How fields stand in a line."""

    def __init__(self, rng):
        self.rng = rng
        self.delimiter = rng.choice([",", ",", ";", "\t", "|"])
        self.decimal_comma = self.delimiter != "," and rng.random() < 0.3
        self.comment = rng.choice(["", "", "#", "%"])
        self.skip = rng.choice([0, 0, 0, 3])
        self.null = rng.choice(["", "", "NA", "NULL,\\N,-"])
        self.has_header = rng.random() < 0.8
        self.spaces_in_header = rng.random() < 0.2
        self.header_again = self.has_header and rng.random() < 0.2
        self.ending = rng.choice(["\n", "\n", "\r\n"])
        self.blank_lines = rng.random() < 0.2
        self.malformed = rng.random() < 0.2
        self.order = COLUMNS[:]
        rng.shuffle(self.order)

    @property
    def options(self):
        options = []
        if self.delimiter != ",":
            options += ["--delimiter", self.rng.choice(
                [self.delimiter, "tab"]) if self.delimiter == "\t" else self.delimiter]
        if self.decimal_comma:
            options += ["--decimal-comma"]
        if self.comment:
            options += ["--comment", self.comment]
        if self.skip:
            options += ["--skip", str(self.skip)]
        if self.null:
            options += ["--null", self.null]
        if not self.has_header:
            options += ["--no-header"]
        if self.malformed:
            options += ["--skip-malformed"]
        return options

    def column(self, name):
        return name if self.has_header else str(self.order.index(name) + 1)

    def quoted(self, text):
        needs = any(c in text for c in (self.delimiter, '"', "\n", "\r"))
        needs = needs or bool(self.comment) and text.startswith(self.comment)
        if needs or self.rng.random() < 0.05:
            return '"' + text.replace('"', '""') + '"'
        return text

    def field(self, name, text):
        if text is None:
            return self.rng.choice(self.null.split(",")) if self.null else ""
        if self.decimal_comma and name in ("n", "x"):
            text = text.replace(".", ",")
        text = self.quoted(text)
        if name in ("n", "x") and self.rng.random() < 0.03 and not text.startswith('"'):
            text = f" {text} " if self.delimiter != "\t" else text
        return text

    def header(self):
        around = " " if self.spaces_in_header and self.delimiter != "\t" else ""
        return self.delimiter.join(around + name + around for name in self.order)

    def bad_line(self):
        """A row that is malformed whatever is read of it: too many fields."""
        return self.delimiter.join(["1"] * (len(self.order) + 1))

    def write(self, rows, write_time):
        """The table, and how many rows of it are malformed."""
        lines = [f'preamble {i} "' for i in range(self.skip)]
        if self.has_header:
            lines.append(self.header())
        malformed = 0
        for row in rows:
            if self.comment and self.rng.random() < 0.05:
                lines.append(self.comment + ' a remark, "')
            if self.blank_lines and self.rng.random() < 0.05:
                lines.append("")
            if self.header_again and self.rng.random() < 0.02:
                lines.append(self.header())
            texts = row.texts(lambda ns: write_time(ns, self.decimal_comma))
            lines.append(self.delimiter.join(self.field(name, texts[name]) for name in self.order))
            # Behind a row: without a header the first says how many fields there are.
            if self.malformed and self.rng.random() < 0.05:
                lines.append(self.bad_line())
                malformed += 1
        text = self.ending.join(lines)
        return text + (self.ending if self.rng.random() < 0.9 else ""), malformed


class JsonLines:
    """The same rows as objects, a line each."""

    has_header = True

    def __init__(self, rng):
        self.rng = rng
        self.nested = rng.random() < 0.3
        self.malformed = rng.random() < 0.2

    @property
    def options(self):
        return ["--format", "json"] + (["--skip-malformed"] if self.malformed else [])

    def column(self, name):
        return f"of.{name}" if self.nested and name == "x" else name

    def write(self, rows, write_time):
        lines = []
        malformed = 0
        for row in rows:
            texts = row.texts(write_time)
            parts = []
            for name, text in texts.items():
                if text is None:
                    if self.rng.random() < 0.5:
                        continue
                    value = "null"
                elif name in ("n", "x"):
                    value = text if self.rng.random() < 0.9 else json.dumps(text)
                elif name == "at" and text.lstrip("-").replace(".", "").isdigit():
                    value = text
                else:
                    value = json.dumps(text, ensure_ascii=self.rng.random() < 0.5)
                if self.nested and name == "x":
                    parts.append(f'"of":{{"other":[1,{{}}],"x":{value}}}')
                else:
                    parts.append(f'{json.dumps(name)}:{value}')
            if self.rng.random() < 0.3:
                parts.append('"more":{"a":[true,false,null,-1.5e-3,"\\u00e9"]}')
            self.rng.shuffle(parts)
            space = self.rng.choice(["", " "])
            lines.append("{" + (space + "," + space).join(parts) + "}")
            if self.malformed and self.rng.random() < 0.05:
                lines.append(self.rng.choice(['{"at":01}', '{"at":1', '{"at":tru}', '["at"]', "{}x",
                                              '{"key":"\\q"}']))
                malformed += 1
        return "\n".join(lines) + "\n", malformed
