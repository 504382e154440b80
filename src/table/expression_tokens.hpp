// SPDX-License-Identifier: Apache-2.0
//
// The words, numbers and signs of an expression's text, one after the other. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <strid/table/expression.hpp>

namespace strid::table::detail {

struct Token {
    enum class Kind : std::uint8_t { end, word, name, number, text, sign };

    Kind kind = Kind::end;
    std::string text;       // a word in small letters; a name or a text without its quotes
    std::string written;    // a word as it is written
    std::size_t place = 1;  // in the text, from 1
};

class Tokens {
  public:
    static constexpr std::size_t bytes_max = std::size_t{64} << 10;

    /// The text must outlive it. Throws ExpressionError for more than bytes_max.
    explicit Tokens(std::string_view text);

    /// The token at hand.
    [[nodiscard]] const Token& now() const noexcept { return now_; }
    /// The one behind it.
    [[nodiscard]] const Token& next() const noexcept { return next_; }
    /// Takes the token at hand. Throws ExpressionError for a character that begins none.
    Token take();
    /// Takes the token at hand if it is this sign, or this word.
    bool take_if(std::string_view text);
    /// The same, or throws ExpressionError.
    void expect(std::string_view text);
    /// Whether the token at hand is this sign or word.
    [[nodiscard]] bool is(std::string_view text) const noexcept;
    /// Throws ExpressionError: `column 9: ...`.
    [[noreturn]] void refuse(std::size_t place, const std::string& reason) const;
    /// Throws ExpressionError: another token was expected.
    [[noreturn]] void refuse_now(std::string_view expected) const;

  private:
    Token read();
    void read_quoted(Token& token, char quote);
    void read_number(Token& token);

    std::string_view text_;
    std::size_t at_ = 0;
    Token now_;
    Token next_;
};

}  // namespace strid::table::detail
