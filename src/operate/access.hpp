// SPDX-License-Identifier: Apache-2.0
//
// Which requests a server answers: by the name that it was asked under, the page that asks, and the
// token. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include <strid/engine/http/http_text.hpp>
#include <strid/engine/http/secret.hpp>

namespace strid::operate {

using http::HttpRequest;
using http::HttpResponse;
using http::is_same_secret;
using http::plain;

/// The properties of a server that decide this.
struct Access {
    std::string host;       ///< As the user named it: "127.0.0.1", "stream.example".
    std::string machine;    ///< The name of this machine.
    std::string token;      ///< Of 64 digits.
    bool is_local = false;  ///< Only programs of this machine reach the server.
};

/// A refusal, or status 0 where the request may be answered. `acts`: the request changes the run,
/// which always takes the token as `Authorization: Bearer TOKEN`. Otherwise only a server that
/// other machines reach asks for it; there it may also be the password of the user `strid`, as
/// browsers send it.
///
/// The name in `Host` must be an address, `localhost`, or the server's own: a page of another site
/// whose name is made to mean this machine (DNS rebinding) has another name. An `Origin` must be
/// that of the server.
[[nodiscard]] HttpResponse refusal(const Access& access, const HttpRequest& request, bool acts);

}  // namespace strid::operate
