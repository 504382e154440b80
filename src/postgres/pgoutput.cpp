// SPDX-License-Identifier: Apache-2.0
#include "pgoutput.hpp"

#include <charconv>

#include <fmt/format.h>

namespace strid::postgres {

namespace {

/// Times of PostgreSQL begin with 2000.
constexpr std::int64_t us_from_1970_to_2000 = 946'684'800'000'000;

/// Takes parts off the front of a message, and throws where it is too short.
class Bytes {
  public:
    explicit Bytes(std::string_view bytes) noexcept : rest_(bytes) {}

    [[noreturn]] static void fail(std::string_view reason) {
        throw MalformedMessage(
            fmt::format("the server has sent a message that is malformed: {}", reason));
    }
    std::string_view take(std::size_t count) {
        if (count > rest_.size()) fail("it ends too early");
        const std::string_view front = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return front;
    }
    /// Big-endian.
    template <class Number>
    Number number() {
        std::uint64_t value = 0;
        for (const char byte : take(sizeof(Number))) {
            value = value << 8 | static_cast<unsigned char>(byte);
        }
        return static_cast<Number>(value);
    }
    char letter() { return take(1).front(); }
    std::int64_t time_us() {
        // Without an overflow that has no meaning: the server may send anything.
        return static_cast<std::int64_t>(number<std::uint64_t>() +
                                         std::uint64_t{us_from_1970_to_2000});
    }
    std::string_view text() {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) fail("a name has no end");
        const std::string_view text = take(end);
        (void)take(1);
        return text;
    }
    void tuple(std::vector<ChangedValue>& values) {
        const auto count = number<std::uint16_t>();
        values.clear();
        for (unsigned i = 0; i != count; ++i) {
            using enum ChangedValue::Kind;
            switch (const char kind = letter(); kind) {
                case 'n':
                    values.push_back({null});
                    break;
                case 'u':
                    values.push_back({unchanged});
                    break;
                case 't':
                    // Its size is taken as a positive number: one that is none is too large.
                    values.push_back({ChangedValue::Kind::text, take(number<std::uint32_t>())});
                    break;
                default:
                    fail("the kind of a value is not known");
            }
        }
    }
    void expect_end() const {
        if (!rest_.empty()) fail("it goes on behind its end");
    }

  private:
    std::string_view rest_;
};

void read_relation(Bytes& bytes, ChangeMessage& message) {
    message.kind = ChangeMessage::Kind::relation;
    message.relation = bytes.number<std::uint32_t>();
    message.schema = bytes.text();
    message.name = bytes.text();
    (void)bytes.letter();  // its replica identity
    const auto count = bytes.number<std::uint16_t>();
    message.columns.clear();
    for (unsigned i = 0; i != count; ++i) {
        (void)bytes.letter();  // whether it is of the key
        message.columns.emplace_back(bytes.text());
        (void)bytes.take(8);  // the type and its modifier
    }
}

void read_update(Bytes& bytes, ChangeMessage& message) {
    message.kind = ChangeMessage::Kind::update;
    message.relation = bytes.number<std::uint32_t>();
    char part = bytes.letter();
    message.has_old = part == 'K' || part == 'O';
    if (message.has_old) {
        bytes.tuple(message.old);
        part = bytes.letter();
    }
    if (part != 'N') Bytes::fail("an update has no new row");
    bytes.tuple(message.row);
}

void read_row(Bytes& bytes, ChangeMessage& message, bool is_insert) {
    message.kind = is_insert ? ChangeMessage::Kind::insert : ChangeMessage::Kind::remove;
    message.relation = bytes.number<std::uint32_t>();
    message.has_old = !is_insert;
    const char part = bytes.letter();
    const bool is_known = is_insert ? part == 'N' : part == 'K' || part == 'O';
    if (!is_known) Bytes::fail("a change has no row");
    bytes.tuple(is_insert ? message.row : message.old);
}

void read_truncate(Bytes& bytes, ChangeMessage& message) {
    message.kind = ChangeMessage::Kind::truncate;
    const auto count = bytes.number<std::uint32_t>();
    (void)bytes.letter();  // options
    message.truncated.clear();
    for (std::uint32_t i = 0; i != count; ++i) {
        message.truncated.push_back(bytes.number<std::uint32_t>());
    }
}

}  // namespace

std::string text_of_lsn(Lsn lsn) {
    return fmt::format("{:X}/{:X}", lsn >> 32, lsn & UINT32_MAX);
}

std::optional<Lsn> read_lsn(std::string_view text) noexcept {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto half = [](std::string_view digits) -> std::optional<std::uint32_t> {
        std::uint32_t value = 0;
        const char* const end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, value, 16);
        if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
        return value;
    };
    const auto high = half(text.substr(0, slash));
    const auto low = half(text.substr(slash + 1));
    if (!high || !low) return std::nullopt;
    return Lsn{*high} << 32 | *low;
}

void ChangeMessage::read(std::string_view message) {
    Bytes bytes(message);
    switch (bytes.letter()) {
        case 'B':
            kind = Kind::begin;
            commit = bytes.number<Lsn>();
            time_us = bytes.time_us();
            (void)bytes.take(4);  // the number of the transaction
            break;
        case 'C':
            kind = Kind::commit;
            (void)bytes.letter();  // flags, of which there are none
            commit = bytes.number<Lsn>();
            end = bytes.number<Lsn>();
            time_us = bytes.time_us();
            break;
        case 'R':
            read_relation(bytes, *this);
            break;
        case 'I':
            read_row(bytes, *this, true);
            break;
        case 'U':
            read_update(bytes, *this);
            break;
        case 'D':
            read_row(bytes, *this, false);
            break;
        case 'T':
            read_truncate(bytes, *this);
            break;
        case 'O':
            kind = Kind::other;
            (void)bytes.number<Lsn>();
            (void)bytes.text();
            break;
        case 'Y':
            kind = Kind::other;
            (void)bytes.take(4);
            (void)bytes.text();
            (void)bytes.text();
            break;
        default:
            Bytes::fail("its kind is not known");
    }
    bytes.expect_end();
}

ReplicationMessage read_replication_message(std::string_view message) {
    Bytes bytes(message);
    ReplicationMessage read;
    switch (bytes.letter()) {
        case 'w':
            (void)bytes.take(24);  // where it begins, the end of the log, the time
            read.bytes = message.substr(25);
            return read;
        case 'k':
            read.is_sign_of_life = true;
            read.sent_up_to = bytes.number<Lsn>();
            (void)bytes.take(9);  // the time, and whether a status is wanted at once
            bytes.expect_end();
            return read;
        default:
            Bytes::fail("it is none of a replication");
    }
}

std::string status_message(Lsn confirmed, std::int64_t time_us) {
    std::string message = "r";
    const auto add = [&message](std::uint64_t number) {
        for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(number >> shift);
    };
    add(confirmed);  // written
    add(confirmed);  // made last, which the slot goes by
    add(confirmed);  // applied
    add(static_cast<std::uint64_t>(time_us - us_from_1970_to_2000));
    message += '\0';  // it asks for no answer
    return message;
}

}  // namespace strid::postgres
