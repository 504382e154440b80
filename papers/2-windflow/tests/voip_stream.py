# SPDX-License-Identifier: Apache-2.0
"""voip-stream against its oracle: exact sets, filters and how often they err, graphs, bad input.

    voip_stream.py CLASS...
"""

import csv
import json
import math
import os
import random
import subprocess
import sys
import time
import unittest

from bundled import PAPER
from command_line import Case

FOLDER = PAPER / "voip-stream"
CALLS = FOLDER / "data/calls.csv"
DAY = 86400
# Filters of 3 lines and 1 line a shard, which the bundled calls fill several times over.
TIGHT = ["--numbers", 96, "--pairs", 1000]


def ways():
    """Options of `run`; one of each kind where STRID_FEW_WAYS is set, as in slow builds."""
    some = [[], ["--parallelism", 3], ["--form", "full", "--parallelism", 2],
            ["--form", "full", "--mode", "simulation", "--seed", 3, "--parallelism", 3],
            ["--form", "paper", "--parallelism", 2]]
    if os.environ.get("STRID_FEW_WAYS"):
        return some
    return some + [["--parallelism", 2, "--mode", "dedicated"], ["--workers", 1],
                   ["--mode", "simulation", "--seed", 5, "--no-fuse", "--parallelism", 2],
                   ["--form", "full", "--workers", 1],
                   ["--form", "full", "--composition", "centralised", "--parallelism", 3]]


class Calls(Case):
    def oracle(self, source, *options, name="expected.csv"):
        path = self.folder / name
        with open(path, "wb") as file:
            subprocess.run([sys.executable, str(FOLDER / "oracle.py"), str(source),
                            *map(str, options)], stdout=file, check=True)
        return path

    def answer(self, source, *options, name="answer.csv"):
        path = self.folder / name
        result = self.strid("run", "voip-stream", "--input", source, "--output", path, *options)
        return path, result.stderr.decode()

    @staticmethod
    def rows(path):
        with open(path, newline="") as file:
            return list(csv.reader(file))

    def made(self, count, *options):
        path = self.folder / "made.csv"
        self.strid("run", "voip-stream", "--generate", count, "--calls", path, "--output",
                   "/dev/null", *options)
        return path


class VoipStream(Calls):
    def test_golden(self):
        for filters in ["bloom", "exact"]:
            answer, _ = self.answer(CALLS, "--filters", filters, "--threshold", 0.3)
            self.same_answer(FOLDER / "golden/scores.csv", answer, 1)

    def test_every_way(self):
        for filters in [["--filters", "exact"], ["--filters", "bloom", *TIGHT]]:
            expected = self.oracle(CALLS, *filters)
            for way in ways():
                with self.subTest(filters=filters, way=way):
                    self.same_answer(expected, self.answer(CALLS, *filters, *way)[0], 1)

    def test_through_a_pipe(self):
        with open(CALLS, "rb") as calls:
            result = self.strid("run", "voip-stream", stdin=calls)
        answer = self.file("answer.csv", result.stdout)
        self.same_answer(self.oracle(CALLS, "--filters", "bloom"), answer, 1)

    def test_long_streams(self):
        """Periods of sums and generations of pairs end, one by one and several at once."""
        chance = random.Random(17)
        numbers = [str(chance.randrange(10 ** chance.randrange(1, 15))) for _ in range(60)]
        lines, now = [], 1_700_000_000
        for _ in range(4000):
            step = 3 * DAY if chance.random() < 0.01 else chance.randrange(400)
            now += chance.choice([step, step, 0, 25 * DAY if chance.random() < 0.002 else 0])
            start = now - (chance.randrange(2 * DAY) if chance.random() < 0.1 else 0)
            a, b = chance.sample(numbers, 2)
            if a == b:
                continue
            lines.append(f"{a},{b},{self.utc(start)},{chance.randrange(600)},true\n")
        source = self.file("calls.csv", "".join(lines))
        for filters in [["--filters", "exact"], ["--filters", "bloom", *TIGHT]]:
            for times in [[], ["--short", 600, "--long", 3600, "--memory", 7200]]:
                seconds = [f"{one}s" if isinstance(one, int) else one for one in times]
                expected = self.oracle(source, *filters, *times)
                for way in [[], ["--form", "full", "--parallelism", 2]]:
                    with self.subTest(filters=filters, times=times, way=way):
                        answer, _ = self.answer(source, *filters, *seconds, *way)
                        self.same_answer(expected, answer, 1)

    def test_many_periods_without_a_call(self):
        """Four weeks of periods of half a minute: nothing is left, and nothing is waited for."""
        start = 1_700_000_000
        lines = [f"39{caller},{part}{caller}{callee},{self.utc(start + gap)},60,true\n"
                 for part, gap in [(5, 0), (6, 28 * DAY)] for caller in range(100, 300)
                 for callee in range(100, 130)]
        source = self.file("calls.csv", "".join(lines))
        for way in [["--filters", "exact"], [], ["--form", "full"]]:
            answer, _ = self.answer(source, "--short", "1s", "--long", "1s", *way)
            rows = self.rows(answer)
            self.assertEqual(len(rows), len(lines))
            for part in "56":
                scores = {}
                for row in rows:
                    if row[1].startswith(part):
                        scores.setdefault(row[0], []).append(float(row[3]))
                # ECR is how many calls the caller has made in this second.
                expected = [min(max((calls / 5 - 2) / 8, 0), 1) for calls in range(1, 31)]
                self.assertEqual(len(scores), 200)
                if not way:
                    continue  # filters may err
                for of_caller in scores.values():
                    for one, other in zip(of_caller, expected, strict=True):
                        self.assertAlmostEqual(one, other, places=6)

    def test_a_mean_of_nothing(self):
        """A late call of which nothing is left by the time that a call not established came."""
        source = self.file("calls.csv", "391,392,2026-03-02T08:15:30Z,60,true\n"
                           "393,394,2026-03-02T09:15:30Z,0,false\n"
                           "395,396,2026-03-02T08:15:30Z,60,true\n")
        for form in ["compact", "full"]:
            answer, _ = self.answer(source, "--long", "1s", "--form", form)
            self.same_answer(self.oracle(source, "--long", 1), answer, 1)
            self.assertEqual([row[5] for row in self.rows(answer)], ["0", "0"])

    def test_starts_in_every_form(self):
        forms = ["2026-03-02T08:15:30", "2026-03-02T08:15:30Z", "2026-03-02T08:15:30.999Z",
                 "2026-03-02T10:15:30.123456789+02:00", "2026-03-02T04:45:30-0330"]
        source = self.file("calls.csv", "".join(f"1{i},2,{form},10,true\n"
                                                for i, form in enumerate(forms)))
        answer, _ = self.answer(source)
        rows = self.rows(answer)
        self.assertEqual({row[2] for row in rows}, {"2026-03-02T08:15:30Z"})
        self.assertEqual(len(rows), len(forms))
        self.same_answer(self.oracle(source), answer, 1)

    @staticmethod
    def utc(second):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


class VoipFilters(Calls):
    def errors(self, source, *options):
        path = self.folder / "errors.json"
        expected = self.oracle(source, "--filters", "bloom", *options, "--errors", path)
        return expected, json.loads(path.read_text())

    def test_scores_are_equal_where_no_filter_errs(self):
        exact = self.rows(self.answer(CALLS, "--filters", "exact", "--parallelism", 1)[0])
        for options in [["--numbers", 300, "--pairs", 2500], TIGHT]:
            expected, errors = self.errors(CALLS, *options)
            self.errors_are_as_the_formula_says(errors["filters"])
            bloom = self.rows(self.answer(CALLS, *options, "--parallelism", 1)[0])
            self.same_answer(expected, self.folder / "answer.csv", 1)
            self.assertEqual(len(exact), len(bloom))
            of_caller = {}
            for row in bloom:
                of_caller.setdefault(row[0], []).append(row)
            # The rows of the oracle stand in the order of the calls, those of a run by caller.
            mine = {}
            for row in exact:
                mine.setdefault(row[0], []).append(row)
            erred = set(errors["erred"])
            seen = dict.fromkeys(mine, 0)
            for place, row in enumerate(self.rows(expected)):
                at = seen[row[0]]
                seen[row[0]] += 1
                if place not in erred:
                    self.assertEqual(mine[row[0]][at], of_caller[row[0]][at], place)
            if options == TIGHT:
                self.assertGreater(len(erred), len(exact) // 10)
            else:
                self.assertLess(len(erred), len(exact) // 4)

    def errors_are_as_the_formula_says(self, filters):
        for name, one in filters.items():
            with self.subTest(filter=name):
                expected = one["expected"]
                # Four deviations of the draws, and what it says that numbers fell into the lines
                # by chance.
                self.assertGreater(expected, 50)
                self.assertLess(abs(one["hits"] - expected),
                                4 * math.sqrt(expected) + 0.2 * expected)

    def test_a_full_filter_is_said(self):
        for form in ["compact", "full"]:
            _, said = self.answer(CALLS, *TIGHT, "--form", form)
            full = [line for line in said.splitlines() if "filters full" in line]
            self.assertTrue(any(int(line.split()[1]) > 50 for line in full), said)
            _, said = self.answer(CALLS, "--form", form)
            full = [line for line in said.splitlines() if "filters full" in line]
            self.assertTrue(full and all(line.split()[1] == "0" for line in full), said)

    def test_entries_of_a_filter_without_a_free_cell(self):
        _, said = self.answer(CALLS, "--numbers", 1, "--pairs", 1)
        entries = [int(line.split()[1].replace(",", "")) for line in said.splitlines()
                   if "numbers called in" in line or "numbers that call in" in line]
        self.assertEqual(len(entries), 2)
        self.assertTrue(all(200 < one < 1500 for one in entries), said)

    def test_telemarketers_are_found(self):
        truth = set((FOLDER / "data/telemarketers.csv").read_text().split())
        best = {}
        for row in self.rows(self.answer(CALLS)[0]):
            best[row[0]] = max(best.get(row[0], 0), float(row[-1]))
        found = {number for number, score in best.items() if score >= 0.3}
        self.assertEqual(found, truth)


class VoipMistakes(Calls):
    GOOD = "391,392,2026-03-02T08:15:30Z,60,true"
    BAD = [("391,391,2026-03-02T08:15:30Z,60,true", "number '391' calls itself"),
           ("391,392,2026-03-02T08:15:30Z,-1,true", "duration '-1' is negative"),
           ("391,392,2026-03-02T08:15:30Z,2147483648,true", "out of range"),
           ("391,392,2026-03-02T08:15:30Z,1.5,true", "not an integer"),
           ("39a,392,2026-03-02T08:15:30Z,60,true", "calling number '39a': not 1 to 15 digits"),
           ("391,,2026-03-02T08:15:30Z,60,true", "called number ''"),
           ("391,1234567890123456,2026-03-02T08:15:30Z,60,true", "not 1 to 15 digits"),
           ("391,392,2026-02-29T08:15:30Z,60,true", "not a time"),
           ("391,392,2026-03-02 08:15:30,60,true", "not a time"),
           ("391,392,2026-03-02T24:15:30Z,60,true", "not a time"),
           ("391,392,2026-03-02T08:15:30.Z,60,true", "not a time"),
           ("391,392,2026-03-02T08:15:30+1:00,60,true", "not a time"),
           ("391,392,1969-12-31T23:59:59Z,60,true", "not in the years 1970 to 2105"),
           ("391,392,2106-01-01T00:00:00Z,60,true", "not in the years 1970 to 2105"),
           ("391,392,2026-04-02T08:15:31Z,60,true", "too far after the calls before it (--jump)"),
           ("391,392,2026-03-02T08:15:30Z,60,yes", "established 'yes': not true or false"),
           ("391,392,2026-03-02T08:15:30Z,60", "found 4"),
           ("391,392,2026-03-02T08:15:30Z,60,true,", "found 6")]

    def test_each_is_an_error_with_its_line(self):
        for line, reason in self.BAD:
            with self.subTest(line=line):
                source = self.file("calls.csv", f"{self.GOOD}\n{line}\n")
                said = self.fails("run", "voip-stream", "--input", source, "--quiet", code=1)
                self.assertIn(f"{source}:2: ", said)
                self.assertIn(reason, said)

    def test_refused_lines_have_no_effect(self):
        lines = CALLS.read_text().splitlines()
        chance = random.Random(5)
        mixed, bad = [], []
        # A start beyond --jump is left out: it is one that counts when the calls have come so far.
        bad_lines = [line for line, reason in self.BAD if "--jump" not in reason]
        for line in lines:
            if chance.random() < 0.1:
                bad.append(chance.choice(bad_lines))
                mixed.append(bad[-1])
            mixed.append(line)
        source = self.file("calls.csv", "\n".join(mixed) + "\n")
        dead = self.folder / "dead.csv"
        expected = self.oracle(source, "--filters", "bloom")
        self.same_answer(expected, self.oracle(CALLS, "--filters", "bloom", name="good.csv"), 1)
        for way in [[], ["--form", "full", "--parallelism", 2]]:
            answer, said = self.answer(source, "--dead-letter", dead, *way)
            self.same_answer(expected, answer, 1)
            self.assertIn(f"{len(bad)} malformed records", said)
            self.assertEqual([row[3] for row in self.rows(dead)], bad)

    def test_late_calls_count_at_their_time(self):
        """The last call of each caller has the score that it has in the order of time."""
        chance = random.Random(11)
        calls = sorted(CALLS.read_text().splitlines(), key=lambda line: line.split(",")[2])
        late = calls[:-1]
        for at in range(0, len(late) - 40, 40):
            part = late[at:at + 40]
            chance.shuffle(part)
            late[at:at + 40] = part
        late.append(calls[-1])
        source = self.file("late.csv", "\n".join(late) + "\n")
        answer, said = self.answer(source, "--filters", "exact")
        self.same_answer(self.oracle(source), answer, 1)
        counted = next(line for line in said.splitlines() if "late in parser" in line)
        self.assertGreater(int(counted.split()[1].replace(",", "")), len(calls) // 2)

    def test_options(self):
        for options, reason in [(["--numbers", "200M"], "'200M' is not between 1 and 100000000"),
                                (["--pairs", "1G"], "--pairs"),
                                (["--short", "1500ms"], "--short: '1500ms' is not whole seconds"),
                                (["--filters", "cuckoo"], "--filters"),
                                (["--form", "half"], "--form"),
                                (["--telemarketers", 2], "--telemarketers must be a share")]:
            said = self.fails("run", "voip-stream", "--input", CALLS, *options, code=2)
            self.assertIn(reason, said)

    def test_telemarketers_of_calls_that_are_read(self):
        said = self.fails("run", "voip-stream", "--input", CALLS, "--telemarketers-file",
                          self.folder / "truth.csv", code=2)
        self.assertIn("--telemarketers-file is for calls that are made", said)

    def test_an_empty_input_and_one_call(self):
        self.assertEqual(self.rows(self.answer(self.file("none.csv", ""))[0]), [])
        one = self.file("one.csv", self.GOOD)
        for form in ["compact", "full"]:
            rows = self.rows(self.answer(one, "--form", form)[0])
            self.assertEqual(rows, [["391", "392", "2026-03-02T08:15:30Z", "0", "0", "0", "0"]])


class VoipCallsMade(Calls):
    def test_the_same_for_the_same_seed(self):
        first = self.made(3000, "--seed", 4).read_bytes()
        self.assertEqual(first, self.made(3000, "--seed", 4, "--parallelism", 2).read_bytes())
        self.assertNotEqual(first, self.made(3000, "--seed", 5).read_bytes())

    def test_made_calls_have_the_scores_of_read_ones(self):
        calls = self.folder / "calls.csv"
        made = self.folder / "scores.csv"
        self.strid("run", "voip-stream", "--generate", 5000, "--seed", 9, "--calls", calls,
                   "--output", made)
        self.same_answer(self.oracle(calls, "--filters", "bloom"), made, 1)

    def test_telemarketers_make_their_share_of_calls(self):
        truth = self.folder / "truth.csv"
        calls = self.made(20000, "--telemarketers", 0.02, "--telemarketers-file", truth)
        numbers = set(truth.read_text().split())
        self.assertEqual(len(numbers), 20)
        rows = self.rows(calls)
        theirs = sum(row[0] in numbers for row in rows)
        # Of 1,000 numbers 20 make 15 times as many calls as others, and 20 businesses 8 times.
        self.assertAlmostEqual(theirs / len(rows), 300 / (300 + 160 + 960), delta=0.02)
        # A record may lie 20 seconds behind.
        self.assertTrue(all("08:59:40" <= row[2][11:19] < "19" for row in rows
                            if row[0] in numbers))


if __name__ == "__main__":
    unittest.main()
