// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/http/http_text.hpp>

namespace strid::http {

namespace {

constexpr int bad_request = 400;

/// Characters of a method or of the name of a header (RFC 9110, section 5.6.2).
bool is_token(std::string_view text) noexcept {
    static constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               others.find(c) != std::string_view::npos;
    });
}

bool is_visible(char c) noexcept {
    return c > ' ' && c < 0x7f;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// The next line without its end; false where there is none.
bool take_line(std::string_view& text, std::string_view& line) noexcept {
    const std::size_t end = text.find("\r\n");
    if (end == std::string_view::npos) return false;
    line = text.substr(0, end);
    text.remove_prefix(end + 2);
    return true;
}

/// "GET /path?query HTTP/1.1"
int read_request_line(std::string_view line, HttpRequest& request) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return bad_request;
    const std::string_view method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    const bool is_path = target.starts_with('/') && std::ranges::all_of(target, is_visible);
    if (!is_token(method) || !is_path) return bad_request;
    if (version != "HTTP/1.1" && version != "HTTP/1.0") {
        return version.starts_with("HTTP/") ? 505 : bad_request;
    }
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    request.is_1_0 = version == "HTTP/1.0";
    return 0;
}

int read_header(std::string_view line, HttpRequest& request) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return bad_request;
    const std::string_view value = trimmed(line.substr(colon + 1));
    const bool is_clean = std::ranges::none_of(
        value, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; });
    if (!is_clean) return bad_request;
    const bool is_new = request.headers.emplace(lower(line.substr(0, colon)), value).second;
    return is_new ? 0 : bad_request;
}

/// The request line and the headers.
int read_lines(std::string_view head, HttpRequest& request) {
    std::string_view line;
    if (!take_line(head, line)) return bad_request;
    if (const int fault = read_request_line(line, request); fault != 0) return fault;
    for (;;) {
        if (!take_line(head, line)) return bad_request;
        if (line.empty()) return 0;
        if (const int fault = read_header(line, request); fault != 0) return fault;
    }
}

std::string_view reason_of(int status) noexcept {
    switch (status) {
        case 200:
            return "OK";
        case 202:
            return "Accepted";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 411:
            return "Length Required";
        case 413:
            return "Content Too Large";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 422:
            return "Unprocessable Content";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 501:
            return "Not Implemented";
        case 503:
            return "Service Unavailable";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Internal Server Error";
    }
}

/// For every response: nothing but this server's own files runs in a browser, no other site frames
/// or reads it, and nothing is kept.
constexpr std::string_view common_headers =
    "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cache-Control: no-store\r\n";

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const noexcept {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view{} : std::string_view{found->second};
}

HttpResponse plain(int status, std::string_view sentence) {
    return {.status = status, .body = fmt::format("{}\n", sentence)};
}

int read_head(std::string_view head, HttpRequest& request) {
    if (const int fault = read_lines(head, request); fault != 0) return fault;
    const std::string_view length = request.header("content-length");
    const bool has_body = !length.empty() && length != "0";
    return has_body || !request.header("transfer-encoding").empty() ? 413 : 0;
}

int read_head(std::string_view head, HttpRequest& request, BodyFraming& body) {
    if (const int fault = read_lines(head, request); fault != 0) return fault;
    const auto length = request.headers.find("content-length");
    const auto coding = request.headers.find("transfer-encoding");
    const bool has_length = length != request.headers.end();
    body.is_given = true;
    if (coding != request.headers.end()) {
        // Servers that see another end of this body than a proxy before them could be made to take
        // a part of it for a request.
        if (has_length || request.is_1_0) return bad_request;
        if (lower(coding->second) != "chunked") return 501;
        body.is_chunked = true;
        return 0;
    }
    body.is_given = has_length;
    if (!has_length) return 0;
    const std::string& digits = length->second;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, body.bytes);
    const bool is_number = read.ec == std::errc{} && read.ptr == end;
    return is_number && digits.front() >= '0' && digits.front() <= '9' ? 0 : bad_request;
}

std::string text_of(const HttpResponse& response, bool has_body) {
    const std::string length = response.is_stream
                                   ? std::string{}
                                   : fmt::format("Content-Length: {}\r\n", response.body.size());
    return fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n{}{}{}{}\r\n{}", response.status,
                       reason_of(response.status), response.content_type, length, common_headers,
                       response.keeps_connection ? "" : "Connection: close\r\n", response.headers,
                       has_body ? std::string_view{response.body} : std::string_view{});
}

}  // namespace strid::http
