// SPDX-License-Identifier: Apache-2.0
//
// Requests and responses of HTTP/1.1 as text, as far as servers of small documents and of lines
// need them. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace strid::http {

/// The most bytes of a request line with its headers.
inline constexpr std::size_t head_bytes_max = 8192;

/// A request that has been read.
struct HttpRequest {
    std::string method;   // "GET"
    std::string path;     // behind a '/', without a query
    bool is_1_0 = false;  // of HTTP/1.0
    /// By their names in lower case, the values without blanks around them.
    std::map<std::string, std::string, std::less<>> headers = {};

    /// Empty where there is none.
    [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

/// The answer to a request.
struct HttpResponse {
    int status = 200;
    std::string body = {};
    std::string content_type = "text/plain; charset=utf-8";
    std::string headers = {};       ///< More of them, each with its line end.
    bool keeps_connection = false;  ///< Another request may follow.
    bool is_stream = false;         ///< The body is the beginning; it ends with the connection.
};

/// A response whose body is one sentence.
[[nodiscard]] HttpResponse plain(int status, std::string_view sentence);

/// Reads the head of a request, up to and with its empty line. Returns the status of the fault, and
/// 0 where there is none: 400 for what is no HTTP, 413 for a request with a body, 505 for another
/// version. A name that two headers have is a fault.
[[nodiscard]] int read_head(std::string_view head, HttpRequest& request);

/// Where the body of a request ends (RFC 9112, section 6.3).
struct BodyFraming {
    bool is_given = false;    ///< There is a length, or there are chunks.
    bool is_chunked = false;  ///< body.hpp reads it.
    std::uint64_t bytes = 0;  ///< Of one that is not chunked.
};

/// The same of a request that may have a body. 400 also for a length that is no number, and for two
/// ways to say it; 501 for a transfer coding that is not `chunked`.
[[nodiscard]] int read_head(std::string_view head, HttpRequest& request, BodyFraming& body);

/// The response as text; without its body to a HEAD.
[[nodiscard]] std::string text_of(const HttpResponse& response, bool has_body);

}  // namespace strid::http
