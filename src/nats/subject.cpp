// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace strid::nats {

namespace {

bool is_blank(char c) noexcept {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
}

/// The token in front, which is taken out with its dot.
std::string_view cut_token(std::string_view& subject) noexcept {
    const std::size_t end = std::min(subject.find('.'), subject.size());
    const std::string_view token = subject.substr(0, end);
    subject.remove_prefix(std::min(end + 1, subject.size()));
    return token;
}

}  // namespace

bool is_subject(std::string_view text) noexcept {
    if (text.empty() || text.back() == '.') return false;
    if (std::any_of(text.begin(), text.end(), is_blank)) return false;
    while (!text.empty()) {
        const std::string_view token = cut_token(text);
        if (token.empty()) return false;
        if (token.size() > 1 && token.find_first_of("*>") != std::string_view::npos) return false;
        if (token == ">" && !text.empty()) return false;
    }
    return true;
}

bool has_wildcards(std::string_view subject) noexcept {
    return subject.find_first_of("*>") != std::string_view::npos;
}

bool overlap(std::string_view one, std::string_view other) noexcept {
    while (!one.empty() && !other.empty()) {
        const std::string_view a = cut_token(one);
        const std::string_view b = cut_token(other);
        if (a == ">" || b == ">") return true;
        if (a != b && a != "*" && b != "*") return false;
    }
    return one.empty() && other.empty();
}

bool covers(std::string_view pattern, std::string_view other) noexcept {
    while (!pattern.empty() && !other.empty()) {
        const std::string_view a = cut_token(pattern);
        const std::string_view b = cut_token(other);
        if (a == ">") return true;
        if (b == ">" || (a != b && a != "*")) return false;
    }
    return pattern.empty() && other.empty();
}

std::string token_of(std::string_view text) {
    if (text.empty()) return "%";
    std::string token;
    for (const char c : text) {
        const bool has_meaning = c == '.' || c == '*' || c == '>' || c == '%';
        if (has_meaning || is_blank(c)) {
            token += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        } else {
            token += c;
        }
    }
    return token;
}

}  // namespace strid::nats
