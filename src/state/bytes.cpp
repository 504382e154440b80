// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/state/layouts.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>

namespace strid {

void StateWriter::flush() {
    if (kept_.empty()) return;
    receiver_->receive(kept_);
    handed_on_ += kept_.size();
    kept_.clear();
}

void StateWriter::large(std::span<const std::byte> bytes) {
    flush();
    receiver_->receive(bytes);
    handed_on_ += bytes.size();
}

void StateBytes::receive(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    pieces_.emplace_back(bytes.begin(), bytes.end());
    size_ += bytes.size();
}

void StateBytes::add(std::vector<std::byte> piece) {
    if (piece.empty()) return;
    size_ += piece.size();
    pieces_.push_back(std::move(piece));
}

void StateBytes::add(StateBytes other) {
    for (auto& piece : other.pieces_) add(std::move(piece));
}

std::span<const std::byte> StateBytes::whole() {
    if (pieces_.size() > 1) {
        std::vector<std::byte> all;
        all.reserve(size_);
        for (auto& piece : pieces_) {
            all.insert(all.end(), piece.begin(), piece.end());
            piece = {};
        }
        pieces_.clear();
        pieces_.push_back(std::move(all));
    }
    return pieces_.empty() ? std::span<const std::byte>{} : pieces_.front();
}

std::vector<std::byte> StateBytes::take() {
    (void)whole();
    size_ = 0;
    if (pieces_.empty()) return {};
    std::vector<std::byte> all = std::move(pieces_.front());
    pieces_.clear();
    return all;
}

std::uint64_t StateReader::number() {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
}

std::size_t StateReader::length(std::size_t least_bytes) {
    const std::uint64_t count = number();
    if (least_bytes != 0 && count > left_.size() / least_bytes) {
        throw StateError(fmt::format(
            "the saved state is damaged: {} elements are announced where {} bytes are left", count,
            left_.size()));
    }
    return static_cast<std::size_t>(count);
}

std::string_view StateReader::text() {
    const auto found = bytes(length());
    return {reinterpret_cast<const char*>(found.data()), found.size()};
}

std::size_t StateReader::choice(std::size_t count) {
    const std::uint64_t chosen = number();
    if (chosen >= count) {
        throw StateError(fmt::format("the saved state is damaged: alternative {} of {} is chosen",
                                     chosen, count));
    }
    return static_cast<std::size_t>(chosen);
}

void StateReader::refuse(std::string_view fault) const {
    throw StateError(fmt::format("the saved state is damaged: a value {}", fault));
}

void StateReader::expect_end() const {
    if (left_.empty()) return;
    throw StateError(fmt::format(
        "the saved state is damaged: {} bytes are left behind its last value", left_.size()));
}

void StateReader::cut(std::size_t wanted) const {
    throw StateError(
        fmt::format("the saved state is cut: {} bytes are left where {} more are needed",
                    left_.size(), wanted));
}

std::size_t StateReader::stored_version(const std::type_info& type) const {
    return versions_->of(type);
}

namespace state {

void refuse_migration(const std::string& type, const char* reason) {
    throw StateError("a value of an earlier version of " + type + " is refused: " + reason);
}

}  // namespace state
}  // namespace strid
