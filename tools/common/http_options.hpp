// SPDX-License-Identifier: Apache-2.0
//
// The options of a run's HTTP server, which `run` and `window` share. A function without state; one
// thread.
#pragma once

#include <strid/program/session.hpp>

namespace CLI {
class App;
}

namespace strid::tool {

/// --http HOST:PORT and --http-token FILE; an error of the command line where this program was
/// built without the server. `session` must outlive the parsing.
void add_http_options(CLI::App& app, SessionOptions& session);

}  // namespace strid::tool
