# `make package`: a Debian package of everything that is installed, and a tarball of the sources, by
# CPack. tests/install/packages.py says what they must hold.
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME strid)
set(CPACK_PACKAGE_VENDOR "The authors of Strid")
set(CPACK_PACKAGE_CONTACT "The authors of Strid" CACHE STRING "Maintainer of the Debian package")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "A C++20 library for data-stream processing, with its headers, its \
files for CMake and pkg-config, the command line strid and its programs.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)

set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Of the programs: the shared libraries as dpkg-shlibdeps finds them, what strid-memory runs with,
# and the time zones.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3:any, tzdata")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "")
if(STRID_SHARED)
    list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
endif()
# No package has the libraries of Arrow: the command line says so when it needs them.
if(TARGET strid_parquet)
    list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${STRID_PYARROW})
endif()
# Of the library: what cmake/strid-config.cmake.in looks for. Recommended, which apt installs, and
# not required: the command line does without it.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ (>= 4:12), pkg-config, libfmt-dev, libboost1.81-dev, \
libhwloc-dev, zlib1g-dev, libzstd-dev, liblzma-dev, libbz2-dev, libsimdjson-dev, libcctz-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "graphviz, python3-pandas")

# The sources as git lists them: without what .gitignore names.
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME strid-${PROJECT_VERSION})
string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" strid_sources_at ${PROJECT_SOURCE_DIR})
set(CPACK_SOURCE_IGNORE_FILES "^${strid_sources_at}/build[^/]*/" "^${strid_sources_at}/out/"
    "/\\.git/" "/\\.git$" "/__pycache__/" "\\.o$" "/\\.cache/" "/compile_commands\\.json$")
include(CPack)
