# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a fresh folder, moves that folder, and builds and runs a consumer project
against it, once through find_package, with a precompiled header and whole segments alone, and once
through pkg-config. A program whose files disagree about whole segments must not link. The template
of a connector (examples/connector) builds, and passes its test. Nothing that was installed may name
the folders it was built in. With --tool the command line was installed, computes a window and finds
the applications.

    installed_copy.py CMAKE BUILD SOURCE COMPILER [--tool]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONSUMER = Path(__file__).parent / "consumer"
CONNECTOR = Path(__file__).parents[2] / "examples" / "connector"
INPUT = "1\n2\n3\n"
EXPECTED = "strid says: 2 4 6 (3 records)\n"


def run(*command: str | Path, **environment: str) -> str:
    """Standard output of a command that must succeed; on failure all its output is shown."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def require_expected(how: str, consumer: Path, prefix: Path) -> None:
    """The loader finds a shared library (STRID_SHARED) below `prefix`, as it would below /usr."""
    numbers = consumer.parent / "numbers.csv"
    numbers.write_text(INPUT)
    printed = run(consumer, numbers, LD_LIBRARY_PATH=str(prefix / "lib"))
    if printed != EXPECTED:
        sys.exit(f"{how}: expected {EXPECTED!r}, the consumer printed {printed!r}")


def require_no_traces(prefix: Path, folders: list[str]) -> None:
    """The package files hold no path of the machine's build."""
    packages = [file for file in prefix.rglob("*") if file.suffix in {".cmake", ".pc"}]
    if not {"strid-config.cmake", "strid.pc"} <= {file.name for file in packages}:
        sys.exit(f"no strid-config.cmake or strid.pc below {prefix}")
    for file in packages:
        for folder in folders:
            if folder in file.read_text():
                sys.exit(f"{file.relative_to(prefix)} names {folder}")


def through_find_package(cmake: str, prefix: Path, place: Path, compiler: str) -> Path:
    build = place / "found"
    run(cmake, "-S", CONSUMER, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_CXX_FLAGS=-Werror=invalid-pch")
    run(cmake, "--build", build)
    if not list(build.rglob("cmake_pch.hxx.[gp]ch")):
        sys.exit("strid_precompile() has made no precompiled header")
    return build / "consumer"


def require_connector(cmake: str, prefix: Path, place: Path, compiler: str) -> None:
    build = place / "connector"
    run(cmake, "-S", CONNECTOR, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}")
    run(cmake, "--build", build)
    run(Path(cmake).with_name("ctest"), "--test-dir", build, "--output-on-failure",
        "--no-tests=error", LD_LIBRARY_PATH=str(prefix / "lib"))


def require_no_mixture(cmake: str, build: Path) -> None:
    """The files of a program are compiled with whole segments only, or all without."""
    run(cmake, "--build", build, "--target", "alike")
    done = subprocess.run([cmake, "--build", build, "--target", "mixed"], capture_output=True,
                          text=True, check=False)
    if done.returncode == 0 or "whole_segments::Chain" not in done.stdout + done.stderr:
        sys.exit(f"a mixture of whole segments and others: {done.stdout}\n{done.stderr}")


def through_pkg_config(prefix: Path, place: Path, compiler: str) -> list[Path]:
    """The consumer, linked as a shared and as a static program is asked to be."""
    [package] = prefix.rglob("strid.pc")

    def flags(*options: str) -> list[str]:
        return run("pkg-config", *options, "strid", PKG_CONFIG_PATH=str(package.parent)).split()

    compiled = place / "consumer.o"
    source = CONSUMER / "main.cpp"
    run(compiler, "-O1", *flags("--cflags"), "-c", source, "-o", compiled)
    programs = [place / "linked", place / "linked-static"]
    run(compiler, compiled, "-o", programs[0], *flags("--libs"))
    run(compiler, compiled, "-o", programs[1], *flags("--static", "--libs"))
    return programs


def require_one_sentence(prefix: Path, compiler: str) -> None:
    """A compiler of an older standard stops at the first include, and says why."""
    done = subprocess.run(
        [compiler, "-std=c++17", "-fsyntax-only", f"-I{prefix / 'include'}",
         CONSUMER / "main.cpp"], capture_output=True, text=True, check=False,
        env={**os.environ, "LC_ALL": "C"})
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if done.returncode == 0 or len(errors) != 2 or "compile with -std=c++20" not in errors[0]:
        sys.exit(f"C++17: {done.stderr}")


def require_tool(prefix: Path) -> None:
    readings = prefix.parent / "readings.csv"
    readings.write_text("device,at,value\nboiler,1000,3\nboiler,2000,4\n")
    printed = run(prefix / "bin" / "strid", "window", "--input", readings, "--key", "device",
                  "--time", "at", "--window", "tumbling:10s", "--aggregate", "sum(value)")
    if printed.splitlines()[-1:] != ["boiler,0,10000,7"]:
        sys.exit(f"the installed command line printed {printed!r}")
    if "flights" not in run(prefix / "bin" / "strid", "list"):
        sys.exit("the installed command line finds no application")
    [package] = prefix.rglob("strid.pc")
    version = run("pkg-config", "--modversion", package)
    if run(prefix / "bin" / "strid", "--version") != f"strid {version}":
        sys.exit(f"strid --version differs from the version of strid.pc, {version}")


def main() -> None:
    cmake, build, source, compiler, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        installed = place / "installed"
        run(cmake, "--install", build, "--prefix", installed)
        require_no_traces(installed, [build, source])
        prefix = installed.rename(place / "moved")
        if options == ["--tool"]:
            require_tool(prefix)
        found = through_find_package(cmake, prefix, place, compiler)
        require_expected("find_package", found, prefix)
        require_no_mixture(cmake, found.parent)
        require_one_sentence(prefix, compiler)
        require_connector(cmake, prefix, place, compiler)
        for program in through_pkg_config(prefix, place, compiler):
            require_expected("pkg-config", program, prefix)


if __name__ == "__main__":
    main()
