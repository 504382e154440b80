# strid::operate, the HTTP server of a run (STRID_HTTP): a library of its own, so that a program
# that has no server carries none. It needs no package besides those of the library.
#
# The files of its page are part of it: each becomes a constant.
set(strid_page_dir ${CMAKE_CURRENT_SOURCE_DIR}/src/operate/page)
set(strid_page ${CMAKE_CURRENT_BINARY_DIR}/operate/page.cpp)
set(strid_page_files index.html figures.js graph.js icon.svg page.css page.js)
list(TRANSFORM strid_page_files PREPEND ${strid_page_dir}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${strid_page_files})
file(READ ${strid_page_dir}/index.html STRID_PAGE_HTML)
file(READ ${strid_page_dir}/figures.js STRID_PAGE_FIGURES)
file(READ ${strid_page_dir}/graph.js STRID_PAGE_GRAPH)
file(READ ${strid_page_dir}/icon.svg STRID_PAGE_ICON)
file(READ ${strid_page_dir}/page.css STRID_PAGE_CSS)
file(READ ${strid_page_dir}/page.js STRID_PAGE_JS)
configure_file(src/operate/page/page.cpp.in ${strid_page} @ONLY)

file(GLOB strid_operate_sources CONFIGURE_DEPENDS src/operate/*.cpp)
add_library(strid_operate STATIC ${strid_operate_sources} ${strid_page})
add_library(strid::operate ALIAS strid_operate)
set_target_properties(strid_operate PROPERTIES EXPORT_NAME operate)
target_include_directories(strid_operate PRIVATE src/operate)
target_link_libraries(strid_operate PUBLIC strid PRIVATE $<BUILD_INTERFACE:CLI11::CLI11>)
strid_library(strid_operate)
