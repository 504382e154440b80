// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/connector/line_reader.hpp>

#include "journal.hpp"

namespace strid {

namespace {

TextOptions with_enough_chunks(TextOptions options) {
    // Less than one in use downstream and one being filled could never make progress.
    options.chunks = std::max<std::size_t>(options.chunks, 4);
    return options;
}

std::size_t bytes_between(const char* from, const char* to) {
    return static_cast<std::size_t>(to - from);
}

}  // namespace

void check_text_options(const TextOptions& options) {
    if (options.chunk_bytes == 0 || options.chunks == 0 || options.line_bytes_max == 0) {
        throw GraphError("text options: chunk_bytes, chunks and line_bytes_max must be above 0");
    }
}

LineReader::LineReader(std::string path, const TextOptions& options, bool keep_all,
                       detail::Journal* journal)
    : options_(with_enough_chunks(options)),
      keep_all_(keep_all),
      bytes_(std::move(path), options_.zstd_dictionary),
      journal_(journal),
      pool_(options_.chunk_bytes + slack_bytes, options_.chunks) {}

bool LineReader::is_valid() const noexcept {
    if (!chunk_) return begin_ == data_end_ && end_ == data_end_;
    const auto all = chunk_->bytes();
    return all.data() <= begin_ && begin_ <= end_ && end_ <= data_end_ &&
           data_end_ + slack_bytes <= all.data() + all.size() + 1 &&
           (end_ == begin_ || end_[-1] == region_end_ || end_[-1] == '\n');
}

memory::TextReference LineReader::lease(std::size_t bytes) {
    if (keep_all_) return pool_.lease_large(std::max(bytes, options_.chunk_bytes) + slack_bytes);
    if (bytes <= options_.chunk_bytes) return pool_.try_lease();
    // A few long lines may be under way at once; more would be memory without a bound.
    for (auto& place : large_) {
        if (place.use_count() == 1) place.reset();
        if (place) continue;
        place = pool_.lease_large(bytes + slack_bytes);
        return place;
    }
    return {};
}

// Room to read into after data_end_: in this chunk while a good part of it is left, else in a new
// one, to which the unread bytes move. False when there is no chunk.
bool LineReader::make_room() {
    if (chunk_ && !is_chunk_ended_) {
        const std::size_t capacity = chunk_->capacity() - slack_bytes;
        const std::size_t used = bytes_between(chunk_->bytes().data(), data_end_);
        if (used < capacity && capacity - used >= capacity / 4) return true;
    }
    const std::size_t unread = bytes_between(begin_, data_end_);
    const std::size_t wanted =
        unread * 2 <= options_.chunk_bytes
            ? options_.chunk_bytes
            : std::min(unread * 2, options_.line_bytes_max + options_.chunk_bytes);
    memory::TextReference next = lease(std::max(wanted, unread + 1));
    if (!next) return false;
    is_chunk_ended_ = false;
    char* const base = next->bytes().data();
    if (unread > 0) std::memcpy(base, begin_, unread);
    end_ = base + bytes_between(begin_, end_);
    begin_ = base;
    data_end_ = base + unread;
    chunk_ = std::move(next);
    return true;
}

// `bytes` more stand at data_end_. `text` when they complete a line, else `waiting`.
LineReader::Status LineReader::take(std::size_t bytes) {
    char* const fresh = data_end_;
    data_end_ += bytes;
    if (skipping_) {
        auto* const newline = static_cast<char*>(std::memchr(fresh, region_end_, bytes));
        if (newline == nullptr) {
            data_end_ = fresh;  // nothing of this chunk was handed out yet
            bytes_passed_ += bytes;
            return Status::waiting;
        }
        skipping_ = false;
        bytes_passed_ += bytes_between(begin_, newline + 1);
        begin_ = newline + 1;
        end_ = begin_;
    }
    char* from = std::max(fresh, begin_);
    if (choose_region_end_ != nullptr) {
        const char chosen = choose_region_end_({begin_, bytes_between(begin_, data_end_)});
        if (chosen == '\0') return Status::waiting;
        region_end_ = chosen;
        choose_region_end_ = nullptr;
        from = begin_;
    }
    auto* const last =
        static_cast<char*>(::memrchr(from, region_end_, bytes_between(from, data_end_)));
    if (last == nullptr) return Status::waiting;
    end_ = last + 1;
    return Status::text;
}

LineReader::Status LineReader::finish() {
    ended_ = true;
    skipping_ = false;
    if (end_ == data_end_) return Status::end;
    *data_end_++ = '\n';  // in the slack at worst
    end_ = data_end_;
    return Status::text;
}

void LineReader::read_again(std::string text, std::uint64_t bytes_before) {
    text.append(again_, again_at_);
    again_ = std::move(text);
    again_at_ = 0;
    bytes_passed_ = bytes_before;
    chunk_.reset();
    begin_ = end_ = data_end_ = nullptr;
    ended_ = false;
}

ByteReader::Result LineReader::read(std::span<char> out, int wait_ms) {
    if (again_at_ != again_.size()) {
        const std::size_t bytes = again_.copy(out.data(), out.size(), again_at_);
        again_at_ += bytes;
        if (again_at_ == again_.size()) again_ = {}, again_at_ = 0;
        return {ByteReader::Status::read, bytes};
    }
    return journal_ != nullptr ? journal_->read(bytes_, out, wait_ms) : bytes_.read(out, wait_ms);
}

LineReader::Status LineReader::read_more(char* unread, int wait_ms) {
    STRID_ASSERT(begin_ <= unread && unread <= end_);
    bytes_passed_ += bytes_between(begin_, unread);
    begin_ = unread;
    bytes_.passed(bytes_passed_);
    if (skipping_ && chunk_) {
        bytes_passed_ += bytes_between(begin_, data_end_);
        chunk_.reset();
        begin_ = end_ = data_end_ = nullptr;
    }
    for (auto& place : large_) {
        if (place.use_count() == 1) place.reset();
    }
    for (;;) {
        if (ended_) return Status::end;
        // One more for a '\r' whose newline has not come yet.
        if (bytes_between(begin_, data_end_) > options_.line_bytes_max + 1) return Status::too_long;
        if (!make_room()) return Status::no_chunk;
        const auto all = chunk_->bytes();
        const std::size_t used = bytes_between(all.data(), data_end_);
        const auto got = read(all.subspan(used, all.size() - slack_bytes - used), wait_ms);
        if (got.status == ByteReader::Status::waiting) {
            return journal_ != nullptr && journal_->is_full() ? Status::no_chunk : Status::waiting;
        }
        const Status status = got.status == ByteReader::Status::end ? finish() : take(got.bytes);
        STRID_PARANOID(is_valid());
        if (status != Status::waiting) return status;
        wait_ms = 0;
    }
}

}  // namespace strid
