// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/connector/byte_reader.hpp>

#include "decoder.hpp"
#include "raw_input.hpp"

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
    explicit State(std::string path) : input(std::move(path)) {}

    detail::RawInput input;
    bool detected = false;
    std::unique_ptr<detail::Decoder> decoder;
};

ByteReader::ByteReader(std::string path) : state_(std::make_unique<State>(std::move(path))) {}
ByteReader::~ByteReader() = default;

ByteReader::Result ByteReader::read(std::span<char> out, int wait_ms) {
    if (!state_->detected) {
        switch (state_->input.detect(wait_ms)) {
            using enum detail::RawInput::Format;
            case unknown:
                return {Status::waiting, 0};
            case gzip:
                state_->decoder = detail::make_gzip_decoder();
                break;
            case zstd:
                state_->decoder = detail::make_zstd_decoder();
                break;
            case plain:
                break;
        }
        state_->detected = true;
    }
    if (state_->decoder) return state_->decoder->read(state_->input, out, wait_ms);
    return state_->input.read(out, wait_ms);
}

std::uint64_t ByteReader::bytes_read() const noexcept {
    return state_->input.bytes_read();
}
std::uint64_t ByteReader::size_bytes() const noexcept {
    return state_->input.size_bytes();
}

}  // namespace strid
