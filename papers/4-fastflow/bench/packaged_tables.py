# SPDX-License-Identifier: Apache-2.0
"""Tables of the UCI archive that the package of scikit-learn has in it, as CSV, and what its own
decision tree makes of the same folds: figure 1.7 of paper 4 on tables of others.

Nothing is fetched: `load_iris` and its like read files of the package, which
scripts/install-dependencies installs with --ci and --bench.
"""

from __future__ import annotations

import csv
import importlib.util
import random
import re
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import applications
from reporting import write_csv
from store import RunError, Store

# Of the archive: Iris, Wine, Breast Cancer Wisconsin (Diagnostic), Optical Recognition of
# Handwritten Digits (its test set).
TABLES = ("iris", "wine", "breast_cancer", "digits")
FOLDS = 10
ACCURACY = re.compile(r"^accuracy [\d.]+%: (\d+) of (\d+) rows$", re.MULTILINE)


@dataclass(frozen=True)
class Table:
    rows: list[list[float]]
    classes: list[str]

    @property
    def attributes(self) -> int:
        return len(self.rows[0])


def missing() -> str:
    """Why there are no tables; empty where there are."""
    if importlib.util.find_spec("sklearn") is not None:
        return ""
    return ("scikit-learn is not installed, which has the tables of figure 1.7: "
            "scripts/install-dependencies --bench")


def load(name: str) -> Table:
    """With names that no number is, so that the classes are names to every reader."""
    import sklearn.datasets
    data = getattr(sklearn.datasets, f"load_{name}")()
    return Table([[float(value) for value in row] for row in data.data],
                 [f"k{kind}" for kind in data.target])


def write(file: Path, table: Table, numbers: list[int] | None = None) -> None:
    """All rows, or those of these numbers. The shortest text of a number that gives it again."""
    chosen = range(len(table.rows)) if numbers is None else numbers
    with file.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*(f"x{i}" for i in range(table.attributes)), "class"])
        writer.writerows([*map(repr, table.rows[i]), table.classes[i]] for i in chosen)


def folds(classes: list[str], count: int, seed: int) -> list[list[int]]:
    """Stratified: the rows of a class are dealt out in turn, in a drawn order."""
    draw = random.Random(seed)
    found: list[list[int]] = [[] for _ in range(count)]
    dealt = 0
    for kind in sorted(set(classes)):
        rows = [i for i, one in enumerate(classes) if one == kind]
        draw.shuffle(rows)
        for row in rows:
            found[dealt % count].append(row)
            dealt += 1
    return found


def inputs(folder: Path, _scale: float, name: str) -> dict:
    write(folder / "table.csv", load(name))
    return {"table": folder / "table.csv"}


APPLICATIONS = [
    applications.Application(
        figure="1.7-tables", case=f"tree of {name}", inputs=partial(inputs, name=name),
        parallel=["strid-tree", "learn", "--quiet", "--workers", "{workers}", "--input", "{table}",
                  "--target", "class"],
        sequential=["sequential_tree", "{table}", "class"])
    for name in TABLES]


def call(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def by_strid(tree: Path, folder: Path, table: Table, training: list[int],
             tested: list[int]) -> dict:
    """How many of the tested rows the tree of the others has right."""
    model = folder / "model.json"
    write(folder / "training.csv", table, training)
    write(folder / "tested.csv", table, tested)
    printed = call([str(tree), "learn", "--quiet", "--input", str(folder / "training.csv"),
                    "--target", "class", "--output", str(model)])
    nodes = re.search(r"^(\d+) nodes?,", printed, re.MULTILINE)
    said = ACCURACY.search(call([str(tree), "predict", "--quiet", "--model", str(model), "--input",
                                 str(folder / "tested.csv"), "--accuracy"]))
    if not nodes or not said or int(said.group(2)) != len(tested):
        raise RunError(f"{tree} gives no nodes and accuracy of {len(tested)} rows")
    return {"right": int(said.group(1)), "nodes": int(nodes.group(1))}


def by_scikit_learn(table: Table, training: list[int], tested: list[int], seed: int) -> dict:
    """Its tree by entropy with leaves of two rows at least, as C4.5 has them; it is not pruned."""
    from sklearn.tree import DecisionTreeClassifier
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)
    tree.fit([table.rows[i] for i in training], [table.classes[i] for i in training])
    found = tree.predict([table.rows[i] for i in tested])
    return {"right": sum(one == table.classes[i] for one, i in zip(found, tested)),
            "nodes": int(tree.tree_.node_count)}


def accuracies(tree: Path, folder: Path, store: Store, rounds: int, name: str) -> list[dict]:
    """A row for each round, fold and program."""
    import sklearn
    folder.mkdir(parents=True, exist_ok=True)
    table = load(name)
    found = []
    for number in range(rounds):
        parts = folds(table.classes, FOLDS, number)
        for fold, tested in enumerate(parts):
            training = sorted(set(range(len(table.rows))) - set(tested))
            ways = {"strid": partial(by_strid, tree, folder, table, training, tested),
                    "scikit-learn": partial(by_scikit_learn, table, training, tested, number)}
            for by, measured in ways.items():
                row = store.once(("packaged table", name, number, fold, by), measured)
                found.append({"table": name, "rows": len(table.rows),
                              "attributes": table.attributes,
                              "classes": len(set(table.classes)),
                              "package": f"scikit-learn {sklearn.__version__}", "round": number,
                              "fold": fold, "by": by, "tested": len(tested),
                              "right": row["right"], "nodes": row["nodes"]})
    return found


def measure(build: Path, output: Path, store: Store, rounds: int, all_workers: list[int]) -> None:
    """Trees and accuracies of each table, where the package and the programs are there. CSV files
    lie in `output`."""
    why = missing()
    absent = applications.Case(APPLICATIONS[0], build, output, 1).missing()
    if absent:
        why = f"not there: {', '.join(absent)}"
    if why:
        applications.progress(f"tables: {why}; left out", last=True)
        return
    tree = applications.find_program("strid-tree", build)
    folder = output / "inputs" / "tables"
    times: list[dict] = []
    right: list[dict] = []
    for number, (name, one) in enumerate(zip(TABLES, APPLICATIONS)):
        times += applications.measure_case(
            applications.Case(one, build, folder / name, 1), store, rounds, all_workers,
            f"table {number + 1} of {len(TABLES)}")
        right += accuracies(tree, folder / name, store, rounds, name)
    write_csv(output / "table_times.csv", times)
    write_csv(output / "tables.csv", right)
