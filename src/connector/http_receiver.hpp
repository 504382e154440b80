// SPDX-License-Identifier: Apache-2.0
//
// Reads the requests of a connection that post lines, and answers them. Private to the connector
// room. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <strid/engine/http/connection.hpp>
#include <strid/engine/http/http_text.hpp>

#include "body_queue.hpp"
#include "body_text.hpp"
#include "http_place.hpp"

namespace strid::detail {

class HttpReceiver {
  public:
    /// `tls`: null, where connections are not encrypted.
    HttpReceiver(HttpPlace place, BodyQueue& queue, http::SecureServer tls);

    /// Serves a connection until one side ends it. `ending` becomes readable when the server ends.
    void serve(http::Descriptor socket, int ending) noexcept;

    /// For a connection that is not served; empty where it is encrypted.
    [[nodiscard]] std::string busy_text() const;
    [[nodiscard]] const HttpPlace& place() const noexcept { return place_; }

  private:
    struct Request {
        http::HttpRequest head;
        http::BodyFraming body;
        bool is_post = false;
        bool is_gzip = false;
        bool is_read = false;  // to its end
    };

    [[nodiscard]] bool serve_request(http::Connection& connection);
    [[nodiscard]] std::optional<http::HttpResponse> respond(http::Connection& connection,
                                                            Request& request);
    [[nodiscard]] std::optional<http::HttpResponse> refusal(Request& request) const;
    [[nodiscard]] std::optional<http::HttpResponse> take(http::Connection& connection,
                                                         Request& request);
    [[nodiscard]] int read_body(http::Connection& connection, Request& request, BodyText& text,
                                int fault);

    const HttpPlace place_;
    BodyQueue& queue_;
    const http::SecureServer tls_;
    const http::ConnectionTimes times_;
};

}  // namespace strid::detail
