# SPDX-License-Identifier: Apache-2.0
"""C4.5 release 8 as its book and paper say it, in the obvious way: no order is kept, nothing is
counted twice as fast. Written from the descriptions, for small tables.

A table is a list of rows, each a list of values: a float, a str, or None where it is missing.
"""

import math

SLACK = 1e-3
TIE = 1e-10
ROUNDING = 1e-9
LEVELS = [0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00]
DEVIATIONS = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00]


def entropy(sizes):
    total = sum(sizes)
    return -sum(size / total * math.log2(size / total) for size in sizes if size > ROUNDING)


class Learner:
    """`kinds` says "number" or "name" for each attribute; `classes` are those of the rows."""

    def __init__(self, rows, classes, kinds, cases_min=2):
        self.rows = rows
        self.classes = classes
        self.kinds = kinds
        self.cases_min = cases_min
        self.names = sorted(set(classes), key=str.encode)
        values = [
            len({row[a] for row in rows} - {None}) if kind == "name" else 0
            for a, kind in enumerate(kinds)
        ]
        self.many = [
            kind == "name" and count >= 0.3 * len(rows) for kind, count in zip(kinds, values)
        ]

    def weights_of_classes(self, cases):
        return [sum(w for i, w in cases if self.classes[i] == name) for name in self.names]

    def info(self, cases):
        return entropy(self.weights_of_classes(cases))

    def learn(self):
        return self.grow([(i, 1.0) for i in range(len(self.rows))])

    def grow(self, cases):
        counts = self.weights_of_classes(cases)
        total = sum(counts)
        best = max(counts)
        majority = next(c for c, count in enumerate(counts) if count > best - ROUNDING)
        node = {"counts": counts, "majority": majority}
        node["errors"] = total - counts[majority]
        if total - best <= ROUNDING or total < 2 * self.cases_min - ROUNDING:
            return node
        test = self.choose(cases, total)
        if test is None:
            return node
        attribute, threshold = test
        known = [(i, w) for i, w in cases if self.rows[i][attribute] is not None]
        missing = [(i, w) for i, w in cases if self.rows[i][attribute] is None]
        weight_known = sum(w for _, w in known)
        branches = {}
        for value in sorted({self.value(i, test) for i, _ in known}, key=str):
            part = [(i, w) for i, w in known if self.value(i, test) == value]
            factor = sum(w for _, w in part) / weight_known
            part += [(i, w * factor) for i, w in missing]
            branches[value] = self.grow(sorted(part))
        errors = sum(branch["errors"] for branch in branches.values())
        if errors >= node["errors"] - SLACK:
            return node
        node.update(attribute=attribute, threshold=threshold, branches=branches, errors=errors)
        return node

    def value(self, row, test):
        attribute, threshold = test
        value = self.rows[row][attribute]
        if self.kinds[attribute] == "name":
            return value
        return "low" if value <= threshold else "up"

    def choose(self, cases, total):
        offers = {}
        for attribute, kind in enumerate(self.kinds):
            offer = (self.cut if kind == "number" else self.values)(attribute, cases, total)
            if offer is not None:
                offers[attribute] = offer
        counted = [a for a in offers if all(self.many) or not self.many[a]]
        if not counted:
            return None
        mean = sum(offers[a][0] for a in counted) / len(counted)
        chosen = None
        best = -SLACK
        for attribute, (gain, split_info, threshold) in offers.items():
            if gain < mean - SLACK or split_info <= SLACK:
                continue
            if gain / split_info > best + TIE:
                best = gain / split_info
                chosen = (attribute, threshold)
        return chosen

    def gain(self, parts, known, total):
        weight = sum(w for _, w in known)
        inside = sum(sum(w for _, w in part) * self.info(part) for part in parts)
        return weight / total * (self.info(known) - inside / weight)

    @staticmethod
    def split_info(parts, total):
        sizes = [sum(w for _, w in part) for part in parts]
        return entropy(sizes + [max(total - sum(sizes), 0)])

    def values(self, attribute, cases, total):
        known = [(i, w) for i, w in cases if self.rows[i][attribute] is not None]
        parts = {}
        for i, w in known:
            parts.setdefault(self.rows[i][attribute], []).append((i, w))
        large = [p for p in parts.values() if sum(w for _, w in p) >= self.cases_min - ROUNDING]
        if len(large) < 2:
            return None
        parts = list(parts.values())
        return self.gain(parts, known, total), self.split_info(parts, total), None

    def cut(self, attribute, cases, total):
        known = [(i, w) for i, w in cases if self.rows[i][attribute] is not None]
        known.sort(key=lambda case: (self.rows[case[0]][attribute], case[0]))
        weight = sum(w for _, w in known)
        if weight < 2 * self.cases_min - ROUNDING:
            return None
        least = 0.1 * weight / len(self.names)
        least = self.cases_min if least <= self.cases_min else min(least, 25)
        numbers = sorted({self.rows[i][attribute] for i, _ in known})
        tries = 0
        best = 0
        found = None
        for below, above in zip(numbers, numbers[1:]):
            low = [case for case in known if self.rows[case[0]][attribute] <= below]
            up = known[len(low) :]
            weight_low = sum(w for _, w in low)
            if weight_low < least - ROUNDING or weight_low > weight - least + ROUNDING:
                continue
            tries += 1
            gain = self.gain([low, up], known, total)
            if gain > best + TIE:
                best = gain
                found = (below, above, self.split_info([low, up], total))
        if found is None:
            return None
        gain = best - math.log2(tries) / total
        if gain <= ROUNDING:
            return None
        below, above, split_info = found
        middle = (below + above) / 2
        everything = [row[attribute] for row in self.rows if row[attribute] is not None]
        return gain, split_info, max(x for x in everything if x <= middle)


def added_errors(cases, errors, confidence):
    if cases <= ROUNDING:
        return 0
    if errors < 1e-6:
        return cases * (1 - confidence ** (1 / cases))
    if errors < 0.9999:
        none = cases * (1 - confidence ** (1 / cases))
        return none + errors * (added_errors(cases, 1.0, confidence) - none)
    if errors + 0.5 >= cases:
        return 0.67 * (cases - errors)
    i = next(i for i in range(1, len(LEVELS)) if confidence <= LEVELS[i])
    part = (confidence - LEVELS[i - 1]) / (LEVELS[i] - LEVELS[i - 1])
    z2 = (DEVIATIONS[i - 1] + (DEVIATIONS[i] - DEVIATIONS[i - 1]) * part) ** 2
    f = errors + 0.5
    upper = (f + z2 / 2 + math.sqrt(z2 * (f * (1 - f / cases) + z2 / 4))) / (cases + z2)
    return cases * upper - errors


def prune(node, confidence=0.25):
    """Subtree replacement; returns the errors that are expected."""
    cases = sum(node["counts"])
    errors = cases - node["counts"][node["majority"]]
    as_leaf = errors + added_errors(cases, errors, confidence)
    if "branches" not in node:
        return as_leaf
    below = sum(prune(branch, confidence) for branch in node["branches"].values())
    if as_leaf > below + 0.1:
        return below
    for key in ["attribute", "threshold", "branches"]:
        del node[key]
    return as_leaf


def shares(node, row, kinds):
    """How the row's weight ends up among the classes."""
    cases = sum(node["counts"])
    own = [count / cases for count in node["counts"]]
    if "branches" not in node:
        return own
    value = row[node["attribute"]]
    branches = node["branches"]
    if value is not None and kinds[node["attribute"]] == "number":
        value = "low" if value <= node["threshold"] else "up"
    if value is not None:
        return shares(branches[value], row, kinds) if value in branches else own
    total = [0.0] * len(own)
    for branch in branches.values():
        part = sum(branch["counts"]) / cases
        total = [t + part * s for t, s in zip(total, shares(branch, row, kinds))]
    return total
