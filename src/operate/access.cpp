// SPDX-License-Identifier: Apache-2.0
#include "access.hpp"

#include <array>
#include <cstddef>

#include <arpa/inet.h>
#include <strings.h>

namespace strid::operate {

namespace {

bool is_same_name(std::string_view first, std::string_view second) noexcept {
    return first.size() == second.size() &&
           ::strncasecmp(first.data(), second.data(), first.size()) == 0;
}

/// The name or address in "name:port", "name", "[address]:port". Empty where it is neither.
std::string host_of(std::string_view text) {
    std::string_view rest;
    std::string_view host;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) return {};
        host = text.substr(1, end - 1);
        rest = text.substr(end + 1);
    } else {
        const std::size_t colon = text.find(':');
        host = text.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
    }
    if (!rest.empty()) {
        if (!rest.starts_with(':')) return {};
        for (const char c : rest.substr(1)) {
            if (c < '0' || c > '9') return {};
        }
    }
    return std::string(host);
}

bool is_address(const std::string& host) noexcept {
    std::array<unsigned char, sizeof(::in6_addr)> address{};
    return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

bool is_own_host(const Access& access, const HttpRequest& request) {
    const std::string host = host_of(request.header("host"));
    if (host.empty()) return false;
    return is_address(host) || is_same_name(host, "localhost") || is_same_name(host, access.host) ||
           is_same_name(host, access.machine);
}

bool is_own_origin(const HttpRequest& request) {
    const std::string_view origin = request.header("origin");
    if (origin.empty()) return request.headers.find("origin") == request.headers.end();
    const std::string host(request.header("host"));
    // https: where a proxy adds it.
    return is_same_name(origin, "http://" + host) || is_same_name(origin, "https://" + host);
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const bool is_there = i + k < bytes.size();
            group = group << 8 | (is_there ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            const bool is_there = i + k <= bytes.size();
            text += is_there ? digits[group >> (18 - 6 * k) & 63] : '=';
        }
    }
    return text;
}

bool has_token(const Access& access, const HttpRequest& request, bool acts) {
    const std::string_view given = request.header("authorization");
    const std::size_t space = given.find(' ');
    if (space == std::string_view::npos) return false;
    const std::string_view scheme = given.substr(0, space);
    const std::string_view secret = given.substr(space + 1);
    if (is_same_name(scheme, "Bearer")) return is_same_secret(secret, access.token);
    // A browser would send a password along with what another page makes it ask.
    if (acts || !is_same_name(scheme, "Basic")) return false;
    return is_same_secret(secret, base64("strid:" + access.token));
}

}  // namespace

HttpResponse refusal(const Access& access, const HttpRequest& request, bool acts) {
    if (!is_own_host(access, request)) {
        return plain(403, "the Host of the request is not a name of this server");
    }
    if (!is_own_origin(request)) return plain(403, "a page of another site asks");
    if ((access.is_local && !acts) || has_token(access, request, acts)) return {.status = 0};
    HttpResponse response =
        plain(401, "the token is missing or wrong: Authorization: Bearer TOKEN");
    response.headers = acts ? "WWW-Authenticate: Bearer realm=\"strid\"\r\n"
                            : "WWW-Authenticate: Basic realm=\"strid\"\r\n";
    return response;
}

}  // namespace strid::operate
