// SPDX-License-Identifier: Apache-2.0
#include "http_receiver.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <strings.h>

#include <strid/engine/http/chunked_body.hpp>
#include <strid/engine/http/secret.hpp>

namespace strid::detail {

namespace {

using http::HttpRequest;
using http::HttpResponse;
using http::plain;

constexpr int peer_left = 499;
constexpr std::size_t key_bytes_max = 255;

bool is_word(std::string_view text, std::string_view word) noexcept {
    return text.size() == word.size() && ::strncasecmp(text.data(), word.data(), word.size()) == 0;
}

HttpResponse with_header(HttpResponse response, std::string_view header) {
    response.headers = fmt::format("{}\r\n", header);
    return response;
}

HttpResponse stopping() {
    return with_header(plain(503, "the run is stopping, and nothing of the request was taken"),
                       "Retry-After: 1");
}

HttpResponse too_much_waits() {
    return with_header(
        plain(429, "too much waits for the run, and nothing of the request was taken"),
        "Retry-After: 1");
}

/// Of a request that was not read, or not to its end.
HttpResponse response_to(int fault, const HttpPlace& place) {
    switch (fault) {
        case 408:
            return plain(408, "the request has not come in time");
        case 413:
            return plain(413, fmt::format("the body has more than {} bytes", place.body_bytes_max));
        case 429:
            return too_much_waits();
        case 431:
            return plain(431, "the head of the request is too long");
        case 501:
            return plain(501, "there is no transfer coding but chunked");
        case 503:
            return stopping();
        case 505:
            return plain(505, "this is a server of HTTP/1.1");
        default:
            return plain(400, "the request is malformed");
    }
}

bool is_last(const HttpRequest& request) noexcept {
    if (request.is_1_0) return true;
    const std::string_view options = request.header("connection");
    for (std::size_t at = 0; at + 5 <= options.size(); ++at) {
        if (is_word(options.substr(at, 5), "close")) return true;
    }
    return false;
}

bool is_key(std::string_view key) noexcept {
    return !key.empty() && key.size() <= key_bytes_max &&
           std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

HttpReceiver::HttpReceiver(HttpPlace place, BodyQueue& queue, http::SecureServer tls)
    : place_(std::move(place)),
      queue_(queue),
      tls_(std::move(tls)),
      times_({.request = place_.within,
              .idle = std::chrono::seconds{30},
              .leaving = std::chrono::seconds{1}}) {}

std::string HttpReceiver::busy_text() const {
    if (tls_) return {};
    return http::text_of(with_header(plain(503, "too many connections"), "Retry-After: 1"), true);
}

void HttpReceiver::serve(http::Descriptor socket, int ending) noexcept {
    try {
        http::Connection connection(std::move(socket), ending, times_, tls_);
        while (serve_request(connection)) {
        }
    } catch (const std::exception&) {  // no memory: the connection is closed
    }
}

/// True: another one may follow.
bool HttpReceiver::serve_request(http::Connection& connection) {
    Request request;
    auto response = respond(connection, request);
    if (!response) return false;
    response->keeps_connection = request.is_read && !connection.server_ends() &&
                                 !is_last(request.head) &&
                                 (response->status == 200 || response->status == 429);
    connection.write(http::text_of(*response, request.head.method != "HEAD"));
    if (!response->keeps_connection) connection.finish();
    return response->keeps_connection;
}

/// None: the connection is closed without an answer.
std::optional<HttpResponse> HttpReceiver::respond(http::Connection& connection, Request& request) {
    std::string head;
    int fault = connection.read_head(head);
    if (fault == peer_left) return std::nullopt;
    if (fault == 0) fault = http::read_head(head, request.head, request.body);
    if (fault != 0) return response_to(fault, place_);
    if (auto refused = refusal(request)) {
        const http::BodyFraming& body = request.body;
        request.is_read = body.is_given ? !body.is_chunked && body.bytes == 0 : !request.is_post;
        return refused;
    }
    if (request.is_post) return take(connection, request);
    request.is_read = !request.body.is_given;
    return queue_.is_closed() ? stopping() : plain(200, "ready");
}

std::optional<HttpResponse> HttpReceiver::refusal(Request& request) const {
    const HttpRequest& head = request.head;
    // A page in a browser may post to this machine without being asked; only pages have an origin.
    if (head.headers.find("origin") != head.headers.end()) {
        return plain(403, "a page in a browser asks");
    }
    if (!place_.token.empty() && !http::has_bearer(head, place_.token)) {
        return with_header(plain(401, "the token is missing or wrong: Authorization: Bearer TOKEN"),
                           "WWW-Authenticate: Bearer realm=\"strid\"");
    }
    if (head.path != place_.path) return plain(404, "lines are not taken at this path");
    request.is_post = head.method == "POST" || head.method == "PUT";
    if (!request.is_post && head.method != "GET" && head.method != "HEAD") {
        return with_header(plain(405, "lines are posted"), "Allow: GET, HEAD, POST, PUT");
    }
    if (!request.is_post) return std::nullopt;
    if (!request.body.is_given) return plain(411, "the length of the body is missing");
    const std::string_view coding = head.header("content-encoding");
    request.is_gzip = is_word(coding, "gzip") || is_word(coding, "x-gzip");
    if (!request.is_gzip && !coding.empty() && !is_word(coding, "identity")) {
        return plain(415, "a body is compressed by gzip or not at all");
    }
    const std::string_view expected = head.header("expect");
    if (!expected.empty() && !is_word(expected, "100-continue")) {
        return plain(417, "nothing is expected but 100-continue");
    }
    const auto key = head.headers.find("idempotency-key");
    if (key != head.headers.end() && !is_key(key->second)) {
        return plain(400, "an Idempotency-Key has 1 to 255 characters of ASCII");
    }
    if (request.body.bytes > place_.body_bytes_max) return response_to(413, place_);
    return std::nullopt;
}

std::optional<HttpResponse> HttpReceiver::take(http::Connection& connection, Request& request) {
    if (queue_.is_closed()) return stopping();
    int fault = queue_.has_room(request.body.bytes) ? 0 : 429;
    if (!request.head.header("expect").empty() && !request.head.is_1_0) {
        if (fault != 0) return response_to(fault, place_);
        connection.write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    BodyText text(queue_, place_.body_bytes_max, request.is_gzip);
    fault = read_body(connection, request, text, fault);
    if (fault == peer_left) {
        if (!connection.server_ends()) return std::nullopt;
        fault = 503;
    }
    if (fault == 0) fault = text.finish();
    if (fault != 0) return response_to(fault, place_);
    const auto answer =
        queue_.hand_on(text.take(), request.head.header("idempotency-key"), place_.within);
    if (answer.outcome == BodyQueue::Outcome::refused) return stopping();
    if (answer.outcome == BodyQueue::Outcome::given_up) return too_much_waits();
    if (answer.outcome == BodyQueue::Outcome::differs) {
        return plain(422, "another body had this Idempotency-Key");
    }
    if (answer.outcome == BodyQueue::Outcome::unknown) return std::nullopt;
    return HttpResponse{.body = fmt::format("{{\"lines\": {}}}\n", answer.lines),
                        .content_type = "application/json"};
}

/// A body without room is read to its end, too: a client that is still sending it would not see the
/// answer. `fault`: 0, or 429.
int HttpReceiver::read_body(http::Connection& connection, Request& request, BodyText& text,
                            int fault) {
    std::array<char, std::size_t{16} << 10> buffer{};
    http::ChunkedBody chunks;
    std::uint64_t left = request.body.bytes;
    std::uint64_t dropped = 0;
    const auto take = [&](std::string_view data) {
        if (fault == 0) fault = text.add(data);
        if (fault == 429) {
            text.drop();
            dropped += data.size();
        }
        return (fault == 0 || fault == 429) && dropped <= place_.body_bytes_max;
    };
    while (request.body.is_chunked ? chunks.state() == http::ChunkedBody::State::goes_on
                                   : left != 0) {
        const std::size_t wanted =
            request.body.is_chunked ? buffer.size() : std::min<std::uint64_t>(left, buffer.size());
        std::size_t bytes = 0;
        const int broken = connection.read_some(std::span(buffer).first(wanted), bytes);
        if (broken != 0) return broken;
        std::string_view piece(buffer.data(), bytes);
        if (!request.body.is_chunked) {
            left -= bytes;
            if (!take(piece)) return fault;
            continue;
        }
        while (!piece.empty() && chunks.state() == http::ChunkedBody::State::goes_on) {
            if (!take(chunks.take(piece))) return fault;
        }
        if (chunks.state() == http::ChunkedBody::State::malformed) return 400;
        connection.put_back(piece);
    }
    request.is_read = true;
    return fault;
}

}  // namespace strid::detail
