// SPDX-License-Identifier: Apache-2.0
#include "http_options.hpp"

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>
#ifdef STRID_HAS_HTTP
#include <strid/operate/http_server.hpp>
#endif
#ifdef STRID_HAS_TLS
#include <strid/tls/tls.hpp>
#endif

namespace strid::tool {

#ifdef STRID_HAS_HTTP
void add_http_options(CLI::App& app, SessionOptions& session) {
#ifdef STRID_HAS_TLS
    use_tls();
#endif
    operate::add_http_options(app, session);
}
#else
void add_http_options(CLI::App& app, SessionOptions&) {
    const auto refuse = [](const std::string&) {
        throw GraphError("this program was built without its HTTP server (-DSTRID_HTTP=OFF)");
    };
    add_text_option(app, "--http", "HOST:PORT", refuse, "Not in this build");
    for (const char* const name : {"--http-token", "--http-certificate", "--http-key"}) {
        add_text_option(app, name, "FILE", refuse, "Not in this build");
    }
}
#endif

}  // namespace strid::tool
