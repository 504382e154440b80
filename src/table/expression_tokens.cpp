// SPDX-License-Identifier: Apache-2.0
#include "expression_tokens.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>

namespace strid::table::detail {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
bool begins_word(char c) {
    return (c >= 'a' && c <= 'z') || is_upper(c) || c == '_' ||
           static_cast<unsigned char>(c) >= 128;
}

// The longer ones first.
constexpr std::array<std::string_view, 17> signs{"<>", "!=", "<=", ">=", "==", "||", "<", ">", "=",
                                                 "+",  "-",  "*",  "/",  "%",  "(",  ")", ","};

}  // namespace

Tokens::Tokens(std::string_view text) : text_(text) {
    if (text.size() > bytes_max) {
        throw ExpressionError(
            fmt::format("an expression of {} bytes, of {} at most", text.size(), bytes_max));
    }
    now_ = read();
    next_ = read();
}

Token Tokens::take() {
    Token taken = std::exchange(now_, std::exchange(next_, Token{}));
    if (now_.kind != Token::Kind::end) {
        next_ = read();
    } else {
        next_.place = now_.place;
    }
    return taken;
}

bool Tokens::is(std::string_view text) const noexcept {
    return (now_.kind == Token::Kind::word || now_.kind == Token::Kind::sign) && now_.text == text;
}

bool Tokens::take_if(std::string_view text) {
    if (!is(text)) return false;
    (void)take();
    return true;
}

void Tokens::expect(std::string_view text) {
    if (!take_if(text)) refuse_now(text);
}

void Tokens::refuse(std::size_t place, const std::string& reason) const {
    throw ExpressionError(fmt::format("column {}: {}", place, reason));
}

void Tokens::refuse_now(std::string_view expected) const {
    const std::string found = now_.kind == Token::Kind::end
                                  ? "the text ends"
                                  : fmt::format("found \"{}\"", excerpt(now_.written, 40));
    refuse(now_.place, fmt::format("expected {}, {}", expected, found));
}

void Tokens::read_quoted(Token& token, char quote) {
    for (++at_;; ++at_) {
        if (at_ == text_.size()) {
            refuse(token.place, quote == '"' ? "a name whose quote is not closed"
                                             : "a text whose quote is not closed");
        }
        if (text_[at_] == quote) {
            if (at_ + 1 == text_.size() || text_[at_ + 1] != quote) break;
            ++at_;
        }
        token.text += text_[at_];
    }
    ++at_;
}

void Tokens::read_number(Token& token) {
    const std::size_t begin = at_;
    const auto digits = [this] {
        while (at_ != text_.size() && is_digit(text_[at_])) ++at_;
    };
    digits();
    if (at_ != text_.size() && text_[at_] == '.') {
        ++at_;
        digits();
    }
    if (at_ != text_.size() && (text_[at_] | 0x20) == 'e') {
        ++at_;
        if (at_ != text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
        digits();
    }
    token.text = text_.substr(begin, at_ - begin);
    if (at_ != text_.size() && begins_word(text_[at_])) {
        refuse(token.place, "letters follow a number");
    }
}

Token Tokens::read() {
    while (at_ != text_.size() &&
           (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'))) {
        ++at_;
    }
    Token token;
    token.place = at_ + 1;
    if (at_ == text_.size()) return token;
    const std::size_t begin = at_;
    const char first = text_[at_];
    const bool is_fraction = first == '.' && at_ + 1 != text_.size() && is_digit(text_[at_ + 1]);
    if (begins_word(first)) {
        token.kind = Token::Kind::word;
        for (; at_ != text_.size() && (begins_word(text_[at_]) || is_digit(text_[at_])); ++at_) {
            const char c = text_[at_];
            token.text += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
        }
    } else if (is_digit(first) || is_fraction) {
        token.kind = Token::Kind::number;
        read_number(token);
    } else if (first == '\'' || first == '"') {
        token.kind = first == '"' ? Token::Kind::name : Token::Kind::text;
        read_quoted(token, first);
    } else {
        token.kind = Token::Kind::sign;
        for (const std::string_view sign : signs) {
            if (!text_.substr(at_).starts_with(sign)) continue;
            token.text = sign;
            at_ += sign.size();
            break;
        }
        if (token.text.empty()) {
            refuse(token.place,
                   fmt::format("\"{}\" begins nothing", excerpt(text_.substr(at_, 1))));
        }
    }
    token.written = text_.substr(begin, at_ - begin);
    return token;
}

}  // namespace strid::table::detail
