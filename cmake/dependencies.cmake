# The dependencies of the library itself. The installed package looks for the same list, from
# cmake/strid-config.cmake.in; scripts/install-dependencies names the Debian packages.
if(NOT PROJECT_IS_TOP_LEVEL)
    set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # the project around this one links them, too
endif()
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(BZip2 REQUIRED)
find_package(simdjson REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET GLOBAL hwloc)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd)
# Headers of the sources only: nothing that an installed copy needs.
find_package(CLI11 REQUIRED)
find_package(FastFloat REQUIRED)
# Time zones. Its package has no configuration for CMake: it is linked by its name.
find_path(CCTZ_INCLUDE cctz/time_zone.h REQUIRED)
find_library(CCTZ_LIBRARY cctz REQUIRED)
