# libstrid as a shared library (STRID_SHARED). Before 1.0.0 a new minor version may change the
# interface, so the soname has it as well: libstrid.so.0.1.
set_target_properties(strid PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# Exported is what belongs to namespace strid: the templates of the headers call functions of
# strid::detail, so these belong to the interface. Instances of other libraries' templates stay
# inside, unless their arguments are types of Strid.
set(strid_exports ${CMAKE_CURRENT_SOURCE_DIR}/cmake/strid.exports)
target_link_options(strid PRIVATE -Wl,--version-script=${strid_exports} -Wl,-z,defs)
set_target_properties(strid PROPERTIES LINK_DEPENDS ${strid_exports})
# The loader finds the dependencies of the library: a program that links the library
# does not need them.
list(TRANSFORM strid_libraries REPLACE "^(.+)$" "$<BUILD_INTERFACE:\\1>")

# The installed programs find it beside themselves, wherever the copy lies.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
