// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <strid/connector/byte_reader.hpp>

#include "decoder.hpp"
#include "raw_input.hpp"
#include "utf16_text.hpp"

namespace strid {

namespace detail {

ByteReader::Result Decoder::read(RawInput& input, std::span<char> out, int wait_ms) {
    std::size_t total = 0;
    while (total < out.size()) {
        if (begin_ == end_ && !output_was_full_) {
            const auto raw = input.read(buffer_, total == 0 ? wait_ms : 0);
            if (raw.status == ByteReader::Status::end) {
                check_complete(input);
                if (total == 0) return raw;
                break;
            }
            if (raw.status == ByteReader::Status::waiting) {
                if (total == 0) return raw;
                break;
            }
            begin_ = 0;
            end_ = raw.bytes;
        }
        const auto room = out.subspan(total);
        const auto progress =
            decode(input, std::span<const char>(buffer_).subspan(begin_, end_ - begin_), room);
        begin_ += progress.consumed;
        total += progress.produced;
        output_was_full_ = progress.produced == room.size();
    }
    return {ByteReader::Status::read, total};
}

}  // namespace detail

struct ByteReader::State {
    State(std::string path, std::string dictionary)
        : input(std::move(path)), zstd_dictionary(std::move(dictionary)) {}

    bool detect_format(int wait_ms);
    bool detect_encoding(int wait_ms);
    [[noreturn]] void fail_of_encoding(const std::string& text, const std::string& name) const {
        input.fail("text in " + text + ": iconv -f " + name + " -t UTF-8 makes it readable");
    }
    Result read_bytes(std::span<char> out, int wait_ms) {
        return decoder ? decoder->read(input, out, wait_ms) : input.read(out, wait_ms);
    }

    /// Begins with the bytes that detect_encoding() has read.
    Result read_rest(std::span<char> out, int wait_ms) {
        if (first_begin == first_end) return read_bytes(out, wait_ms);
        const std::size_t bytes = std::min(out.size(), first_end - first_begin);
        std::memcpy(out.data(), first.data() + first_begin, bytes);
        first_begin += bytes;
        return {Status::read, bytes};
    }

    detail::RawInput input;
    std::string zstd_dictionary;  // the path of its file
    bool has_format = false;
    bool has_encoding = false;
    bool has_ended = false;  // within `first`
    std::unique_ptr<detail::Decoder> decoder;
    std::array<char, 4> first{};  // of the decompressed bytes, until they were handed out
    std::size_t first_begin = 0;
    std::size_t first_end = 0;
    std::unique_ptr<detail::Utf16Text> utf16;
};

ByteReader::ByteReader(std::string path, std::string zstd_dictionary)
    : state_(std::make_unique<State>(std::move(path), std::move(zstd_dictionary))) {}
ByteReader::~ByteReader() = default;

// False: what a pipe has given so far does not say.
bool ByteReader::State::detect_format(int wait_ms) {
    if (has_format) return true;
    switch (input.detect(wait_ms)) {
        using enum detail::RawInput::Format;
        case unknown:
            return false;
        case gzip:
            decoder = detail::make_gzip_decoder();
            break;
        case zstd:
            decoder = detail::make_zstd_decoder(input, zstd_dictionary);
            break;
        case xz:
            decoder = detail::make_xz_decoder();
            break;
        case bzip2:
            decoder = detail::make_bzip2_decoder();
            break;
        case foreign:
            input.fail(input.foreign_format());
        case plain:
            break;
    }
    return has_format = true;
}

bool ByteReader::State::detect_encoding(int wait_ms) {
    while (!has_encoding) {
        const std::string_view begin(first.data(), first_end);
        switch (detail::encoding_of(begin, has_ended)) {
            using enum detail::Encoding;
            case unknown:
                break;
            case bytes:
                return has_encoding = true;
            case utf16_little:
            case utf16_big:
                utf16 = std::make_unique<detail::Utf16Text>(input, begin.starts_with('\xFE'));
                first_begin = 2;
                return has_encoding = true;
            case utf16_little_unmarked:
                fail_of_encoding("UTF-16 without a byte order mark", "UTF-16LE");
            case utf16_big_unmarked:
                fail_of_encoding("UTF-16 without a byte order mark", "UTF-16BE");
            case utf32:
                fail_of_encoding("UTF-32", "UTF-32");
            case utf32_little_unmarked:
                fail_of_encoding("UTF-32 without a byte order mark", "UTF-32LE");
            case utf32_big_unmarked:
                fail_of_encoding("UTF-32 without a byte order mark", "UTF-32BE");
        }
        const std::uint64_t connections = input.connections();
        const auto got = read_bytes(std::span(first).subspan(first_end), wait_ms);
        if (input.connections() != connections) first_end = 0;  // of a client that is gone
        if (got.status == Status::waiting) return false;
        has_ended = got.status == Status::end;
        first_end += got.bytes;
    }
    return true;
}

ByteReader::Result ByteReader::read(std::span<char> out, int wait_ms) {
    State& state = *state_;
    if (!state.detect_format(wait_ms) || !state.detect_encoding(wait_ms)) {
        return {Status::waiting, 0};
    }
    if (state.utf16) {
        return state.utf16->read(
            state.input,
            [&state](std::span<char> room, int wait) { return state.read_rest(room, wait); }, out,
            wait_ms);
    }
    return state.read_rest(out, wait_ms);
}

std::optional<ByteReader::FilePlace> ByteReader::followed_place() const {
    auto place = state_->input.followed_place();
    if (!place) return std::nullopt;
    if (state_->decoder || state_->utf16) {
        state_->input.fail(
            "a file that is followed is journalled as it stands only: as plain text in UTF-8");
    }
    place->bytes -= state_->first_end - state_->first_begin;
    return place;
}

bool ByteReader::follow_from(const FilePlace& place) {
    return state_->input.follow_from(place);
}

void ByteReader::acknowledge(std::uint64_t lines) {
    if (state_->decoder || state_->utf16) {
        state_->input.fail("lines are acknowledged of plain text in UTF-8 only");
    }
    state_->input.acknowledge(lines);
}
std::uint64_t ByteReader::connections() const noexcept {
    return state_->input.connections();
}

bool ByteReader::has_positions() const noexcept {
    return state_->input.transport() != nullptr && state_->input.transport()->has_positions();
}
std::pair<std::string, std::uint64_t> ByteReader::position(std::uint64_t bytes) {
    if (state_->utf16) state_->input.fail("messages are read in UTF-8 only");
    const TransportInput::Position position = state_->input.transport()->position(bytes);
    return {position.text, position.bytes};
}
void ByteReader::passed(std::uint64_t bytes) {
    if (TransportInput* const transport = state_->input.transport()) transport->passed(bytes);
}
void ByteReader::accepted(std::uint64_t bytes) {
    if (TransportInput* const transport = state_->input.transport()) transport->accepted(bytes);
}
std::uint64_t ByteReader::message_bytes_left() const noexcept {
    const TransportInput* const transport = state_->input.transport();
    if (transport == nullptr) return 0;
    return transport->message_bytes_left() + (state_->first_end - state_->first_begin);
}
void ByteReader::go_on_at(std::string_view position) {
    if (!has_positions()) {
        state_->input.fail("came by messages before the snapshot, and has none now");
    }
    state_->input.transport()->go_on_at(position);
}

std::string_view ByteReader::lost() const noexcept {
    const TransportInput* const transport = state_->input.transport();
    return transport != nullptr ? transport->lost() : std::string_view{};
}

void ByteReader::read_only_what_waits() {
    state_->input.read_only_what_waits();
}
std::uint64_t ByteReader::bytes_waiting() const noexcept {
    return state_->input.bytes_waiting();
}
std::uint64_t ByteReader::bytes_read() const noexcept {
    return state_->input.bytes_read();
}
std::uint64_t ByteReader::size_bytes() const noexcept {
    return state_->input.size_bytes();
}

}  // namespace strid
