# `cmake --install`: the library, its headers, find_package(strid) and pkg-config's strid.pc. The
# command line is installed where it is built (tools/CMakeLists.txt).
include(CMakePackageConfigHelpers)
set(strid_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/strid)

install(TARGETS strid EXPORT strid-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(strid_pc_operate "")
if(TARGET strid_operate)
    install(TARGETS strid_operate EXPORT strid-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    set(strid_pc_operate "-lstrid_operate ")
endif()
set(strid_libraries_of_transports ${strid_transports})
foreach(library parquet rocksdb)
    if(TARGET strid_${library})
        list(APPEND strid_libraries_of_transports ${library})
    endif()
endforeach()
foreach(transport ${strid_libraries_of_transports})
    install(TARGETS strid_${transport} EXPORT strid-targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
install(DIRECTORY include/strid DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(EXPORT strid-targets NAMESPACE strid:: DESTINATION ${strid_package_dir})

set(strid_is_shared FALSE)
if(STRID_SHARED)
    set(strid_is_shared TRUE)
endif()
configure_package_config_file(cmake/strid-config.cmake.in strid-config.cmake
                              INSTALL_DESTINATION ${strid_package_dir})
write_basic_package_version_file(strid-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/strid-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/strid-config-version.cmake
              ${CMAKE_CURRENT_SOURCE_DIR}/cmake/strid-compiling.cmake
        DESTINATION ${strid_package_dir})

# pkg-config: the same flags that the exported target carries, so that a program built through
# either sees the same headers with the same assertion level.
# The file finds its prefix from where it lies, so that an installed copy can be moved.
set(strid_pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH strid_pc_prefix ${strid_pc_dir} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH strid_pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH strid_pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
set(strid_pc_cflags "-std=c++20 -DSTRID_ASSERT_LEVEL=${STRID_ASSERT_LEVEL}")
# A static library's users link what it stands on; named here rather than required from the
# packages, because hwloc's own list for static linking asks for more than Debian installs.
list(JOIN HWLOC_LDFLAGS " " strid_pc_hwloc)
list(JOIN ZSTD_LDFLAGS " " strid_pc_zstd)
set(strid_pc_libs "${strid_pc_hwloc} ${strid_pc_zstd} -lcctz -lz -llzma -lbz2 -lsimdjson -pthread")
if(STRID_SHARED)
    set(strid_pc_libs "-pthread")
endif()
if(STRID_SANITIZE)
    string(APPEND strid_pc_cflags " -fsanitize=${STRID_SANITIZE} -fno-omit-frame-pointer")
    string(APPEND strid_pc_libs " -fsanitize=${STRID_SANITIZE}")
endif()
configure_file(cmake/strid.pc.in strid.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/strid.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(transport ${strid_libraries_of_transports})
    set(strid_pc_transport ${transport})
    set(strid_pc_module ${strid_module_of_${transport}})
    set(strid_pc_libs_of_transport "${strid_pc_libs_of_${transport}}")
    configure_file(cmake/strid-transport.pc.in strid-${transport}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/strid-${transport}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
