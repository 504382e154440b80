# SPDX-License-Identifier: Apache-2.0
"""A stranger's project takes the sources of Strid, by add_subdirectory and by FetchContent, and is
configured. By the commands of its build, the library is optimised, position independent and without
-Werror, nothing but the library is built, and the project's own targets have no flag from here.

    part_of_a_project.py CMAKE SOURCE COMPILER
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES CXX)
{take}
add_library(plugin SHARED main.cpp)
add_executable(program main.cpp)
foreach(target plugin program)
    target_link_libraries(${{target}} PRIVATE strid::strid)
endforeach()
"""
WAYS = {
    "add_subdirectory": 'add_subdirectory("{source}" strid)',
    "FetchContent": """include(FetchContent)
FetchContent_Declare(strid SOURCE_DIR "{source}")
FetchContent_MakeAvailable(strid)""",
}

# The library, and those of a package of their own.
LIBRARY = re.compile(
    r"/strid(_operate|_kafka|_mqtt|_nats|_parquet|_postgres|_redis|_rocksdb|_sqlite|_tls|_webhook)?"
    r"\.dir/")


def commands(cmake: str, source: str, compiler: str, way: str, *options: str) -> dict:
    """{object: whether it is the project's own, words of its compilation}."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "main.cpp").write_text("#include <strid/strid.hpp>\nint main() {}\n")
        (place / "CMakeLists.txt").write_text(
            PROJECT.format(take=WAYS[way].format(source=source)))
        done = subprocess.run(
            [cmake, "-S", place, "-B", place / "build", "-G", "Ninja",
             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_CXX_COMPILER={compiler}", *options],
            capture_output=True, text=True, check=False, env={**os.environ, "CXXFLAGS": ""})
        if done.returncode != 0:
            sys.exit(f"{way}: {done.stdout}\n{done.stderr}")
        entries = json.loads((place / "build/compile_commands.json").read_text())
        own = str(place / "main.cpp")
        found = {}
        for entry in entries:
            words = shlex.split(entry["command"])
            found[words[words.index("-o") + 1]] = (entry["file"] == own, words)
        return found


def faults_of(way: str, found: dict, optimisation: str | None) -> list[str]:
    faults = []
    if sum(is_own for is_own, _ in found.values()) != 2 or len(found) < 10:
        faults.append(f"{way}: the sources are {sorted(found)}")
    for output, (is_own, words) in found.items():
        levels = [word for word in words if word.startswith("-O")]
        if "-Werror" in words:
            faults.append(f"{way}: {output} has -Werror")
        if levels != ([optimisation] if optimisation and not is_own else []):
            faults.append(f"{way}: {output} has {levels}")
        of_library = LIBRARY.search(f"/{output}")
        if not is_own and ("-fPIC" not in words or not of_library):
            faults.append(f"{way}: {output} is not of a position-independent library")
        if is_own and any(word.startswith(("-W", "--param")) for word in words):
            faults.append(f"{way}: {output} has flags of the library: {words}")
    return faults


def main() -> None:
    cmake, source, compiler = sys.argv[1:]
    faults = []
    for way in WAYS:
        faults += faults_of(way, commands(cmake, source, compiler, way), "-O2")
    debug = commands(cmake, source, compiler, "add_subdirectory", "-DCMAKE_BUILD_TYPE=Debug")
    faults += faults_of("Debug", debug, None)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
