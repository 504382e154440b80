# strid::rocksdb, over RocksDB: a store of states by key that are not in memory. It is no transport,
# and no program of this project links it. STRID_ROCKSDB is ON, OFF or AUTO: where the package
# librocksdb-dev is found. With a sanitizer only where it is asked for: the package is built without.
set(STRID_ROCKSDB AUTO CACHE STRING "Build strid::rocksdb, a store of states: ON, OFF, AUTO")
set_property(CACHE STRID_ROCKSDB PROPERTY STRINGS AUTO ON OFF)
find_path(STRID_ROCKSDB_INCLUDE rocksdb/utilities/checkpoint.h)
find_library(STRID_ROCKSDB_LIBRARY rocksdb)
mark_as_advanced(STRID_ROCKSDB_INCLUDE STRID_ROCKSDB_LIBRARY)
if(NOT STRID_ROCKSDB OR (STRID_ROCKSDB STREQUAL "AUTO" AND
                         (STRID_SANITIZE OR NOT STRID_ROCKSDB_INCLUDE OR NOT STRID_ROCKSDB_LIBRARY)))
    return()
endif()
if(NOT STRID_ROCKSDB_INCLUDE OR NOT STRID_ROCKSDB_LIBRARY)
    message(FATAL_ERROR "STRID_ROCKSDB=ON needs librocksdb-dev, which is not found")
endif()
add_library(strid_rocksdb_package INTERFACE)
target_include_directories(strid_rocksdb_package SYSTEM INTERFACE ${STRID_ROCKSDB_INCLUDE})
target_link_libraries(strid_rocksdb_package INTERFACE ${STRID_ROCKSDB_LIBRARY})
set(strid_pc_libs_of_rocksdb "-lrocksdb")
strid_transport_library(rocksdb strid_rocksdb_package -lrocksdb)
