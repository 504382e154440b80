// SPDX-License-Identifier: Apache-2.0
//
// Rows that an input of messages has taken from its server, as text, until their source has emitted
// them. Part of the inputs of transports. One thread.
//
// Invariant: the rows that are not passed lie in the order of their bytes, none within another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include <strid/connector/byte_reader.hpp>

namespace strid::detail {

/// `Place`: of a row at its server, the transport's own.
template <class Place>
class TakenRows {
  public:
    struct Row {
        std::uint64_t begin = 0;  ///< Bytes before it.
        std::uint64_t end = 0;    ///< Bytes up to its newline, which is no part of it.
        Place place = {};
    };

    /// The text that read() gives next; a row is appended to it, and ended by end_row().
    [[nodiscard]] std::string& text() noexcept { return text_; }
    void end_row(Place place) {
        const std::uint64_t begin = bytes_;
        end_line();
        rows_.push_back({begin, bytes_ - 1, std::move(place)});
    }
    /// The same of a line that is no row, as a header.
    void end_line() {
        text_ += '\n';
        bytes_ += text_.size() - counted_;
        counted_ = text_.size();
    }
    /// Bytes that read() has not given yet.
    [[nodiscard]] std::size_t left() const noexcept { return text_.size() - given_; }
    /// Of all lines so far.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// As TransportInput::read. Where nothing is left, `fetch` appends rows; it returns false at
    /// the end of the input.
    template <class Fetch>
    ByteReader::Result read(std::span<char> out, const Fetch& fetch) {
        if (left() == 0) {
            text_.clear();
            given_ = counted_ = 0;
            const bool goes_on = fetch();
            if (text_.empty()) {
                return {goes_on ? ByteReader::Status::waiting : ByteReader::Status::end, 0};
            }
        }
        const std::size_t bytes = std::min(out.size(), left());
        std::memcpy(out.data(), text_.data() + given_, bytes);
        given_ += bytes;
        return {ByteReader::Status::read, bytes};
    }

    /// Those that are not passed.
    [[nodiscard]] std::deque<Row>& rows() noexcept { return rows_; }
    [[nodiscard]] const std::deque<Row>& rows() const noexcept { return rows_; }
    /// Calls `take` with the place of each row that ends within so many bytes, and forgets it.
    template <class Take>
    void pass(std::uint64_t bytes, const Take& take) {
        for (; !rows_.empty() && rows_.front().end <= bytes; rows_.pop_front()) {
            take(rows_.front().place);
        }
    }
    /// The first row that is not passed, where it begins within so many bytes; else null.
    [[nodiscard]] const Row* begun_within(std::uint64_t bytes) const noexcept {
        return !rows_.empty() && rows_.front().begin < bytes ? &rows_.front() : nullptr;
    }

  private:
    std::string text_;
    std::size_t given_ = 0;    // bytes of it
    std::size_t counted_ = 0;  // bytes of it, in bytes_
    std::uint64_t bytes_ = 0;
    std::deque<Row> rows_;
};

}  // namespace strid::detail
