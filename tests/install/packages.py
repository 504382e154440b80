# SPDX-License-Identifier: Apache-2.0
"""The packages that CPack makes of a build. The Debian package has the headers, the library, the
files for CMake and pkg-config, the command line and its programs, and names what they need.
Unpacked below a folder, its command line runs and a consumer project builds against it. The tarball
has the files that git lists. Exit code 77: the tools of Debian are missing.

    packages.py CMAKE BUILD SOURCE COMPILER
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from installed_copy import (require_expected, require_no_traces, require_tool, run,
                            through_find_package, through_pkg_config)

SKIPPED = 77
TOOLS = ("dpkg-deb", "dpkg-shlibdeps", "file")
HELD = [
    "usr/bin/strid", "usr/bin/strid-compress", "usr/bin/strid-decompress", "usr/bin/strid-memory",
    "usr/bin/strid-tree", "usr/bin/strid-exchange", "usr/bin/strid-run", "usr/bin/strid-list",
    "usr/bin/strid-explain", "usr/bin/strid-bench", "usr/lib/strid/applications/flights",
    "usr/lib/strid/applications/word-count", "usr/include/strid/strid.hpp",
    "usr/include/strid/base/version.hpp", "usr/lib/libstrid_malloc.so",
    "usr/lib/cmake/strid/strid-config.cmake", "usr/lib/cmake/strid/strid-config-version.cmake",
    "usr/lib/cmake/strid/strid-targets.cmake", "usr/lib/cmake/strid/strid-compiling.cmake",
    "usr/lib/pkgconfig/strid.pc",
    "usr/lib/strid/memory/strid-memory-run", "usr/share/doc/strid/copyright",
    "usr/share/strid/memory/strid_memory/main.py",
]
LIBRARIES = ("usr/lib/libstrid.a", "usr/lib/libstrid.so")  # one of them, by STRID_SHARED
DEPENDS = ("libc6", "libstdc++6", "libfmt", "libhwloc", "libcctz", "python3", "tzdata")
RECOMMENDS = ("libfmt-dev", "libboost1.81-dev", "libhwloc-dev", "libsimdjson-dev")


def packed(cmake: str, build: str, config: str, generator: str, place: Path) -> Path:
    """The one file that CPack makes in `place`."""
    run(Path(cmake).with_name("cpack"), "--config", Path(build) / config, "-G", generator,
        "-B", place)
    [package] = [file for file in place.iterdir() if file.is_file()]
    return package


def contents(package: Path) -> set[str]:
    lines = run("dpkg-deb", "-c", package).splitlines()
    return {line.split()[5].removeprefix("./").rstrip("/") for line in lines}


def require_contents(package: Path, source: str) -> None:
    names = contents(package)
    headers = [f"usr/{file.relative_to(source)}" for file in Path(source, "include").rglob("*.hpp")]
    missing = [name for name in HELD + headers if name not in names]
    if missing or not any(name in names for name in LIBRARIES):
        sys.exit(f"{package.name} lacks {missing or LIBRARIES}")
    outside = [name for name in names if name and not (name + "/").startswith("usr/")]
    if outside or any("__pycache__" in name for name in names):
        sys.exit(f"{package.name} has files that it must not have: {outside or '__pycache__'}")


def require_fields(package: Path, version: str) -> None:
    for field, words in (("Version", (version,)), ("Depends", DEPENDS),
                         ("Recommends", RECOMMENDS)):
        value = run("dpkg-deb", "-f", package, field)
        missing = [word for word in words if word not in value]
        if missing:
            sys.exit(f"{package.name}: {field} is {value!r}, without {missing}")


def require_sources(tarball: Path, source: str, version: str) -> None:
    """The tarball has the files that git lists, below one folder."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    expected = {name for name in listed.stdout.splitlines() if Path(source, name).exists()}
    with tarfile.open(tarball) as archive:
        names = {member.name.removeprefix(f"strid-{version}/") for member in archive
                 if not member.isdir()}
    required = expected if listed.returncode == 0 else {"CMakeLists.txt", "LICENSE", "README.md"}
    if not required <= names:
        sys.exit(f"{tarball.name} lacks {sorted(required - names)[:9]}")
    if listed.returncode == 0 and names != expected:
        sys.exit(f"{tarball.name} has more than git lists: {sorted(names - expected)[:9]}")


def main() -> None:
    cmake, build, source, compiler = sys.argv[1:]
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"skipped: {missing} not found")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "deb").mkdir()
        package = packed(cmake, build, "CPackConfig.cmake", "DEB", place / "deb")
        version = package.name.split("_")[1]
        require_contents(package, source)
        require_fields(package, version)
        root = place / "root"
        run("dpkg-deb", "-x", package, root)
        prefix = root / "usr"
        require_no_traces(prefix, [build, source])
        require_tool(prefix)
        found = through_find_package(cmake, prefix, place, compiler)
        require_expected("find_package", found, prefix)
        require_expected("pkg-config", through_pkg_config(prefix, place, compiler)[0], prefix)
        (place / "tar").mkdir()
        tarball = packed(cmake, build, "CPackSourceConfig.cmake", "TGZ", place / "tar")
        require_sources(tarball, source, version)


if __name__ == "__main__":
    main()
