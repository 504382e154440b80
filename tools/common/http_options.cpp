// SPDX-License-Identifier: Apache-2.0
#include "http_options.hpp"

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>
#ifdef STRID_HAS_HTTP
#include <strid/operate/http_server.hpp>
#endif

namespace strid::tool {

#ifdef STRID_HAS_HTTP
void add_http_options(CLI::App& app, SessionOptions& session) {
    operate::add_http_options(app, session);
}
#else
void add_http_options(CLI::App& app, SessionOptions&) {
    const auto refuse = [](const std::string&) {
        throw GraphError("this program was built without its HTTP server (-DSTRID_HTTP=OFF)");
    };
    add_text_option(app, "--http", "HOST:PORT", refuse, "Not in this build");
    add_text_option(app, "--http-token", "FILE", refuse, "Not in this build");
}
#endif

}  // namespace strid::tool
