// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::detail {

namespace {

constexpr int full_wait_ms = 20;  // how soon a stop is seen

/// All before the place is read at a start, unless there is a head.
std::optional<std::uint64_t> head_of(std::uint64_t head_bytes) {
    if (head_bytes == 0) return std::nullopt;
    return head_bytes;
}

}  // namespace

Journal::Journal(JournalOptions options, RunScope& run)
    : run_(run),
      log_(std::move(options), JournalKind::text, run.begins_anew(),
           [&run](const std::string& text) { run.warn(text); }) {}

void Journal::go_on(const Place& place) {
    log_.go_on(place.journal,
               {.bytes = place.bytes, .lines = place.line, .line_bytes = place.bytes},
               head_of(place.head_bytes));
    if (place.head_bytes != 0 && place.bytes > place.head_bytes) {
        skip_from_ = place.head_bytes;
        skip_to_ = place.bytes;
    }
    begin_reading(place.bytes);
}

void Journal::begin_reading(std::uint64_t place) {
    has_begun_ = true;
    if (log_.options().whole_lines) log_.cut_unfinished_line(place);
}

void Journal::begin_snapshot(std::uint64_t number, std::uint64_t place, std::uint64_t head_bytes) {
    log_.begin_snapshot(number, place, head_of(head_bytes), run_.oldest_needed());
}

/// Copies the text at position_, up to the end of a block, of a file or of the head.
std::size_t Journal::read_stored(std::span<char> out) {
    std::string_view text;
    if (pending_begin_ != pending_.size()) {
        text = std::string_view(pending_.data(), pending_.size()).substr(pending_begin_);
        text = text.substr(0, out.size());
        pending_begin_ += text.size();
        std::memcpy(out.data(), text.data(), text.size());
        if (pending_begin_ == pending_.size()) {
            pending_.clear();
            pending_begin_ = 0;
        }
    } else {
        text = log_.at(position_, skip_from_ != 0 ? skip_from_ : log_.end().bytes);
        text = text.substr(0, out.size());
        read_again_ += text.size();
        std::memcpy(out.data(), text.data(), text.size());
    }
    position_ += text.size();
    if (!has_unread()) log_.end_reading();
    return text.size();
}

ByteReader::Result Journal::read(ByteReader& input, std::span<char> out, int wait_ms) {
    using enum ByteReader::Status;
    if (!has_begun_) begin_reading(0);
    if (skip_from_ != 0 && position_ == skip_from_) {
        skip_from_ = 0;
        position_ = skip_to_;
    }
    if (is_full() && !has_unread()) {
        ::poll(nullptr, 0, full_wait_ms);
        if (now_ns() < log_.retry_at_ns() || !append(input, pending_)) return {waiting, 0};
    }
    if (has_unread()) return {read, read_stored(out)};
    if (!std::exchange(is_placed_, true)) place_input(input);
    out = out.first(std::min(out.size(), journal_text_bytes_max));
    if (log_.options().acknowledges) return read_lines(input, out, wait_ms);
    const auto got = input.read(out, wait_ms);
    if (got.status != read) {
        log_.synchronize_if_due();
        return got;
    }
    const auto text = out.first(got.bytes);
    if (const auto behind = input.followed_place()) {
        text_file_ = *behind;
        text_file_.bytes -= text.size();
    }
    if (input.message_bytes_left() == 0 && append(input, text)) {
        position_ = log_.end().bytes;
        return got;
    }
    pending_.assign(text.begin(), text.end());
    if (is_full()) return {waiting, 0};
    read_rest_of_message(input);
    if (!append(input, pending_)) return {waiting, 0};
    return {read, read_stored(out)};
}

/// Into pending_, so that a message is a part of one block.
void Journal::read_rest_of_message(ByteReader& input) {
    while (const std::uint64_t left = input.message_bytes_left()) {
        const std::size_t before = pending_.size();
        pending_.resize(before + left);
        const auto got = input.read(std::span(pending_).subspan(before), 0);
        pending_.resize(before + got.bytes);
        if (got.status != ByteReader::Status::read) return;
    }
}

/// Whole lines of a socket: a producer that comes back sends the line from its beginning that the
/// one before it had begun.
ByteReader::Result Journal::read_lines(ByteReader& input, std::span<char> out, int wait_ms) {
    using enum ByteReader::Status;
    const std::size_t begun = begun_.size();
    begun_.resize(begun + out.size());
    const auto got = input.read(std::span(begun_).subspan(begun), wait_ms);
    begun_.resize(begun + got.bytes);
    if (input.connections() != connections_) {
        connections_ = input.connections();
        begun_.erase(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(begun));
    }
    std::size_t whole = std::string_view(begun_.data(), begun_.size()).rfind('\n') + 1;
    if (whole == 0 && got.status == end) whole = begun_.size();
    if (whole == 0) {
        if (begun_.size() + journal_text_bytes_max > journal_block_bytes_max) {
            throw InputOutputError(
                fmt::format("{}: a line of more than {} bytes has arrived, and a journal that is "
                            "acknowledged takes no longer one",
                            log_.path(), journal_block_bytes_max - journal_text_bytes_max));
        }
        log_.synchronize_if_due();
        return {got.status == read ? waiting : got.status, 0};
    }
    const auto behind = begun_.begin() + static_cast<std::ptrdiff_t>(whole);
    pending_.assign(begun_.begin(), behind);
    begun_.erase(begun_.begin(), behind);
    if (!append(input, pending_)) return {waiting, 0};
    return {read, read_stored(out)};
}

/// False: there is no room.
bool Journal::append(ByteReader& input, std::span<const char> text) {
    if (!log_.append(text, text_file_)) return false;
    appended_ += text.size();
    input.accepted(appended_);
    if (log_.options().acknowledges) input.acknowledge(log_.end().lines);
    return true;
}

/// A file that is followed goes on behind what the journal has of it.
void Journal::place_input(ByteReader& input) {
    input.accepted(0);
    if (log_.options().acknowledges) input.acknowledge(log_.end().lines);
    const PlaceInFile place = log_.end_in_input();
    if (place.file == 0) return;
    const bool is_there = input.follow_from(place);
    if (is_there && input.followed_place()->bytes == place.bytes) return;
    const std::string reason =
        is_there ? fmt::format("shorter than the {} bytes that the journal has of it", place.bytes)
                 : fmt::format("gone: what it had behind byte {} is not read", place.bytes);
    run_.warn(fmt::format("{}: the file that was followed is {}; {} is read from its beginning",
                          log_.path(), reason, is_there ? "it" : "the file of its name"));
}

}  // namespace strid::detail
