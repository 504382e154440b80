// SPDX-License-Identifier: Apache-2.0
#include "itch_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::apps::trading {

namespace {

constexpr std::size_t length_bytes = 2;
/// More than a message of any length.
constexpr std::size_t buffer_bytes = std::size_t{256} << 10;
constexpr int pipe_wait_ms_max = 20;  // how soon a stop is seen on a silent pipe

std::size_t length_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[0])) << 8U |
           static_cast<unsigned char>(text[1]);
}

}  // namespace

ItchSource::ItchSource(std::string path, MalformedOptions malformed, std::shared_ptr<Market> market)
    : path_(std::move(path)),
      malformed_(std::move(malformed)),
      market_(std::move(market)),
      feed_(market_) {
    check_malformed_options(malformed_);
}

ItchSource::ItchSource(const ItchSource& other)
    : ItchSource(other.path_, other.malformed_, other.market_) {}

void ItchSource::on(const Opened& opened) {
    if (opened.context.replica != 0) return;
    reader_ = std::make_unique<ByteReader>(path_);
    handler_ = std::make_unique<MalformedHandler>(malformed_, opened.context.run);
    buffer_.resize(buffer_bytes);
    market_->note_time_form({.kind = TimeForm::Kind::integer});
}

void ItchSource::on(Restored) {
    if (!reader_ || place_ == 0) return;
    if (input_may_block(path_)) {
        throw InputOutputError(path_ + ": what was read of it cannot be read once more");
    }
    pass_to_ = place_;
}

std::vector<FileUse> ItchSource::files() const {
    std::vector<FileUse> files{{.kind = FileUse::Kind::reads, .path = path_}};
    if (auto letters = dead_letter_file_of(malformed_)) files.push_back(*letters);
    return files;
}

ItchSource::Next ItchSource::next(Quote& quote) {
    if (!reader_) return Next::end;
    if (rest_.size() < length_bytes || rest_.size() < length_bytes + length_of(rest_)) {
        return refill();
    }
    const std::size_t length = length_of(rest_);
    const std::string_view message = rest_.substr(length_bytes, length);
    count_message();
    auto outcome = ItchFeed::Outcome::nothing;
    if (is_session_over_) {
        refuse("a message behind the end of the session", message);
    } else if (length == 0) {
        is_session_over_ = true;
    } else {
        outcome = feed_.take(message, quote, fault_);
        if (outcome == ItchFeed::Outcome::refused) refuse(fault_, message);
    }
    rest_.remove_prefix(length_bytes + length);
    offset_ += length_bytes + length;
    const bool is_new = messages_ > pass_to_;
    return outcome == ItchFeed::Outcome::quote && is_new ? Next::quote : Next::nothing;
}

ItchSource::Next ItchSource::refill() {
    handler_->flush();
    const bool is_stopped = is_stopped_.load(std::memory_order_relaxed);
    if (is_stopped && !input_may_block(path_)) return Next::end;
    if (is_stopped && !std::exchange(is_draining_, true)) reader_->read_only_what_waits();
    std::memmove(buffer_.data(), rest_.data(), rest_.size());
    const std::span<char> room = std::span(buffer_).subspan(rest_.size());
    const auto got = reader_->read(room, has_waited_ && !is_stopped ? pipe_wait_ms_max : 0);
    rest_ = {buffer_.data(), rest_.size() + got.bytes};
    bytes_read_.store(reader_->bytes_read(), std::memory_order_relaxed);
    const auto size = static_cast<double>(reader_->size_bytes());
    fraction_done_.store(size > 0 ? static_cast<double>(reader_->bytes_read()) / size : -1);
    const bool waits = got.status == ByteReader::Status::waiting;
    if (has_waited_ && !waits) arrived_ns_ = now_ns();
    has_waited_ = waits;
    if (got.status == ByteReader::Status::end) return end_input();
    if (!waits) return Next::nothing;
    wake_at_ns_ = now_ns();  // the next poll waits in the kernel
    return is_stopped ? Next::end : Next::waiting;
}

ItchSource::Next ItchSource::end_input() {
    if (!rest_.empty()) {
        count_message();
        const std::string reason =
            rest_.size() < length_bytes
                ? "the file ends inside the length of a message"
                : fmt::format("the file ends inside a message: of its {} bytes {} are there",
                              length_of(rest_), rest_.size() - length_bytes);
        refuse(reason, rest_.substr(std::min(rest_.size(), length_bytes)));
        rest_ = {};
    }
    fraction_done_.store(1);
    reader_.reset();
    return Next::end;
}

void ItchSource::refuse(std::string_view reason, std::string_view bytes) {
    if (messages_ <= pass_to_) return;
    const std::string_view name = path_ == "-" ? "standard input" : std::string_view(path_);
    if (malformed_.policy == OnMalformed::stop) {
        throw InputOutputError(
            fmt::format("{}: message {} at byte {}: {}", name, messages_, offset_, reason));
    }
    constexpr std::size_t shown_bytes_max = 64;
    std::string text;
    for (const char byte : bytes.substr(0, shown_bytes_max)) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    const std::string placed = fmt::format("at byte {}: {}", offset_, reason);
    handler_->report({name, messages_, placed, text});
}

}  // namespace strid::apps::trading
