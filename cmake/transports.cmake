# Transports (include/strid/connector/transport.hpp): each is a library of its own over a package of
# its own, strid::NAME from src/NAME, so that the core links none. STRID_<NAME> is ON, OFF or
# AUTO: where the package is found.
#
#   strid_transport(NAME MODULE)      MODULE: of pkg-config
set(strid_transports "")

# Its library; FLAGS: what programs of an installed copy link.
function(strid_transport_library name package flags)
    if(NOT name IN_LIST strid_rooms_apart)
        message(FATAL_ERROR "src/${name} is in the core: name it in strid_rooms_apart")
    endif()
    file(GLOB sources CONFIGURE_DEPENDS src/${name}/*.cpp)
    add_library(strid_${name} STATIC ${sources})
    add_library(strid::${name} ALIAS strid_${name})
    set_target_properties(strid_${name} PROPERTIES EXPORT_NAME ${name})
    target_include_directories(strid_${name} PRIVATE src/${name})
    target_link_libraries(strid_${name} PUBLIC strid PRIVATE $<BUILD_INTERFACE:${package}>
                                                             "$<INSTALL_INTERFACE:${flags}>")
    strid_library(strid_${name})
endfunction()

function(strid_transport name module)
    string(TOUPPER ${name} upper)
    pkg_check_modules(STRID_${upper}_LIBRARY QUIET IMPORTED_TARGET GLOBAL ${module})
    set(STRID_${upper} AUTO CACHE STRING
        "Build strid::${name}, inputs and outputs by ${module}: ON, OFF, AUTO")
    set_property(CACHE STRID_${upper} PROPERTY STRINGS AUTO ON OFF)
    if(NOT STRID_${upper} OR (STRID_${upper} STREQUAL "AUTO" AND
                              NOT STRID_${upper}_LIBRARY_FOUND))
        return()
    endif()
    if(NOT STRID_${upper}_LIBRARY_FOUND)
        message(FATAL_ERROR "STRID_${upper}=ON needs ${module}, which pkg-config does not find")
    endif()
    list(JOIN STRID_${upper}_LIBRARY_LDFLAGS "$<SEMICOLON>" flags)
    strid_transport_library(${name} PkgConfig::STRID_${upper}_LIBRARY "${flags}")
    set(strid_transports ${strid_transports} ${name} PARENT_SCOPE)
    set(strid_module_of_${name} ${module} PARENT_SCOPE)
endfunction()
strid_transport(kafka rdkafka)
strid_transport(mqtt libmosquitto)
strid_transport(nats libnats)
strid_transport(postgres libpq)
strid_transport(redis hiredis)
strid_transport(sqlite sqlite3)
# No transport, but of the same form: what encrypts the connections of servers.
strid_transport(tls openssl)
strid_transport(webhook libcurl)
include(cmake/parquet.cmake)
