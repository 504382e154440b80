// SPDX-License-Identifier: Apache-2.0
#include "fix/decoder.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace strid::exchange::fix {

namespace {

constexpr std::string_view prefix =
    "8=FIX.4.4\x01"
    "9=";
constexpr std::string_view start = "8=FIX.4.4\x01";
constexpr std::string_view trailer_mark =
    "\x01"
    "10=";
constexpr std::size_t trailer_bytes = 7;  // 10=nnn and the SOH
constexpr std::size_t length_digits_max = 9;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_trailer(std::string_view text) noexcept {
    return text.size() == trailer_bytes && text.starts_with("10=") && is_digit(text[3]) &&
           is_digit(text[4]) && is_digit(text[5]) && text[6] == soh;
}

unsigned sum_of(std::string_view text) noexcept {
    return std::accumulate(text.begin(), text.end(), 0U, [](unsigned sum, char byte) {
        return sum + static_cast<unsigned char>(byte);
    });
}

/// How much of the end of `text` may be the beginning of `mark`.
std::size_t begun_at_end(std::string_view text, std::string_view mark) noexcept {
    for (std::size_t length = std::min(text.size(), mark.size() - 1); length > 0; --length) {
        if (mark.starts_with(text.substr(text.size() - length))) return length;
    }
    return 0;
}

std::string printable(std::string_view text, std::size_t length_max = 24) {
    std::string result;
    for (const char c : text.substr(0, length_max)) {
        result += c == soh ? '|' : (c >= ' ' && c <= '~' ? c : '?');
    }
    return result;
}

}  // namespace

void FrameCutter::feed(std::string_view bytes) {
    compact();
    buffer_ += bytes;
}

void FrameCutter::compact() {
    // Moved only when most of the buffer is done with: each byte is moved once on average.
    if (begin_ == 0 || begin_ * 2 < buffer_.size()) return;
    buffer_.erase(0, begin_);
    dropped_ += begin_;
    begin_ = 0;
}

Decoded FrameCutter::skip(Garbled::Kind kind, std::string_view why) {
    const std::string_view text = rest();
    // The first byte is never a beginning that is believed again.
    const std::size_t found = text.find(start, 1);
    const std::size_t length =
        found != std::string_view::npos ? found : text.size() - begun_at_end(text.substr(1), start);
    garbled_ = {kind, fmt::format("at byte {}: {}", offset(), why), length};
    begin_ += length;
    searched_ = 0;
    return Decoded::garbled;
}

std::optional<FrameCutter::Head> FrameCutter::read_head(std::string_view text, Decoded& outcome) {
    const std::size_t known = std::min(text.size(), prefix.size());
    if (text.substr(0, known) != prefix.substr(0, known)) {
        outcome = skip(Garbled::Kind::begin_string,
                       fmt::format("not 8=FIX.4.4 and 9=, but '{}'", printable(text)));
        return std::nullopt;
    }
    std::size_t at = prefix.size();
    while (at < text.size() && is_digit(text[at])) ++at;
    const std::size_t digits = at - std::min(at, prefix.size());
    if (digits > length_digits_max || (at < text.size() && (text[at] != soh || digits == 0))) {
        outcome = skip(
            Garbled::Kind::body_length,
            fmt::format("BodyLength is no number: '{}'", printable(text.substr(prefix.size()))));
        return std::nullopt;
    }
    if (at >= text.size()) {
        outcome = Decoded::more;
        return std::nullopt;
    }
    std::size_t body = 0;
    std::from_chars(text.data() + prefix.size(), text.data() + at, body);
    if (body > body_bytes_max_) {
        outcome = skip(Garbled::Kind::too_long,
                       fmt::format("a body of {} bytes, more than {}", body, body_bytes_max_));
        return std::nullopt;
    }
    return Head{at + 1, body};
}

Decoded FrameCutter::search_early_end(std::string_view text, const Head& head) {
    // The SOH before the body counts: a body may be empty.
    const std::size_t from = std::max(searched_, head.bytes - 1);
    for (std::size_t at = text.find(trailer_mark, from); at != std::string_view::npos;
         at = text.find(trailer_mark, at + 1)) {
        if (at + 1 + trailer_bytes > text.size()) break;
        if (is_trailer(text.substr(at + 1, trailer_bytes)) && at + 1 != head.bytes + head.body) {
            return skip(Garbled::Kind::body_length,
                        fmt::format("BodyLength is {}, but CheckSum comes after {}", head.body,
                                    at + 1 - head.bytes));
        }
    }
    searched_ = text.size() - std::min(text.size(), trailer_bytes);
    return Decoded::more;
}

Decoded FrameCutter::next(std::string_view& frame) {
    const std::string_view text = rest();
    if (text.empty()) return Decoded::more;
    Decoded outcome = Decoded::more;
    const std::optional<Head> head = read_head(text, outcome);
    if (!head) return outcome;
    const std::size_t size = head->bytes + head->body + trailer_bytes;
    // Also where all of it is there: the outcome does not depend on how the bytes arrive.
    if (search_early_end(text.substr(0, size), *head) == Decoded::garbled) return Decoded::garbled;
    if (text.size() < size) return Decoded::more;
    const std::size_t trailer = size - trailer_bytes;
    if (text[trailer - 1] != soh || !is_trailer(text.substr(trailer, trailer_bytes))) {
        if (search_early_end(text, *head) == Decoded::garbled) return Decoded::garbled;
        return skip(Garbled::Kind::body_length,
                    fmt::format("BodyLength is {}, but there is no CheckSum behind", head->body));
    }
    frame = text.substr(0, size);
    begin_ += size;
    searched_ = 0;
    return Decoded::message;
}

/// Reads the fields of a body, whose last byte is a SOH.
class FieldReader {
  public:
    FieldReader(std::string_view body, Message& message) : rest_(body), message_(message) {}

    void read_all(std::optional<FieldFault>& fault) {
        while (!rest_.empty()) {
            const std::size_t end = rest_.find(soh);
            if (auto wrong = read(rest_.substr(0, end)); wrong && !fault) fault = std::move(wrong);
            rest_.remove_prefix(end + 1);
        }
    }

  private:
    std::optional<FieldFault> read(std::string_view field) {
        int tag = 0;
        const char* const begin = field.data();
        const auto [end, error] = std::from_chars(begin, begin + field.size(), tag);
        if (error != std::errc() || end == begin + field.size() || *end != '=' || tag <= 0 ||
            *begin == '0') {
            return FieldFault{0, Reason::invalid_tag_number,
                              fmt::format("no tag and value: '{}'", printable(field))};
        }
        const std::string_view value = field.substr(static_cast<std::size_t>(end - begin) + 1);
        if (value.empty()) {
            return FieldFault{tag, Reason::tag_without_value,
                              fmt::format("tag {} has no value", tag)};
        }
        if (tag == Tag::begin_string || tag == Tag::body_length || tag == Tag::check_sum ||
            tag == Tag::msg_type) {
            return FieldFault{tag, Reason::tag_more_than_once,
                              fmt::format("tag {} stands in the body once more", tag)};
        }
        message_.fields_.emplace_back(tag, std::string(value));
        return std::nullopt;
    }

    std::string_view rest_;
    Message& message_;
};

Decoded parse(std::string_view frame, Message& message, std::optional<FieldFault>& fault,
              Garbled& garbled) {
    message.clear();
    fault.reset();
    const std::size_t trailer = frame.size() - trailer_bytes;
    const unsigned sum = sum_of(frame.substr(0, trailer)) % 256;
    const std::string_view text = frame.substr(trailer + 3, 3);
    const unsigned expected = static_cast<unsigned>(text[0] - '0') * 100 +
                              static_cast<unsigned>(text[1] - '0') * 10 +
                              static_cast<unsigned>(text[2] - '0');
    if (sum != expected) {
        garbled = {Garbled::Kind::check_sum,
                   fmt::format("CheckSum is {}, the bytes have {:03}", text, sum), frame.size()};
        return Decoded::garbled;
    }
    std::string_view body = frame.substr(0, trailer);
    body.remove_prefix(body.find(soh, prefix.size()) + 1);
    if (!body.starts_with("35=") || body[3] == soh) {
        garbled = {Garbled::Kind::msg_type,
                   fmt::format("the body does not begin with 35=: '{}'", printable(body)),
                   frame.size()};
        return Decoded::garbled;
    }
    const std::size_t type_end = body.find(soh);
    message.set_type(body.substr(3, type_end - 3));
    FieldReader(body.substr(type_end + 1), message).read_all(fault);
    return Decoded::message;
}

Decoded Decoder::next(Message& message) {
    std::string_view frame;
    const std::uint64_t offset = cutter_.offset();
    const Decoded outcome = cutter_.next(frame);
    if (outcome == Decoded::garbled) garbled_ = cutter_.garbled();
    if (outcome != Decoded::message) return outcome;
    const Decoded parsed = parse(frame, message, fault_, garbled_);
    if (parsed == Decoded::garbled) {
        garbled_.text = fmt::format("at byte {}: {}", offset, garbled_.text);
    }
    return parsed;
}

}  // namespace strid::exchange::fix
