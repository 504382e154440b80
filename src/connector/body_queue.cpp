// SPDX-License-Identifier: Apache-2.0
#include "body_queue.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace strid::detail {

void BodyQueue::set_bytes_max(std::size_t bytes_max) {
    const std::lock_guard lock(mutex_);
    bytes_max_ = bytes_max;
    has_read_.notify_all();
}

bool BodyQueue::reserve(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!fits(bytes)) return false;
    held_bytes_ += bytes;
    return true;
}

void BodyQueue::release(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    held_bytes_ -= bytes;
    has_read_.notify_all();
}

bool BodyQueue::has_room(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    return fits(bytes);
}

/// Null: it is refused.
std::shared_ptr<BodyQueue::Body> BodyQueue::add(std::string text, std::string_view key) {
    const auto known = key.empty() ? by_key_.end() : by_key_.find(key);
    const std::size_t hash = std::hash<std::string>{}(text);
    const auto body = std::make_shared<Body>();
    body->bytes = text.size();
    body->hash = hash;
    if (is_closed_ || known != by_key_.end()) {
        held_bytes_ -= text.size();
        if (known == by_key_.end()) return nullptr;
        if (known->second->bytes == text.size() && known->second->hash == hash) {
            return known->second;
        }
        body->answer.outcome = Outcome::differs;
        return body;
    }
    body->answer.lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    if (text.empty()) {
        body->answer.outcome = Outcome::taken;
    } else {
        body->text = std::move(text);
        waiting_.push_back(body);
        arrived_.notify_one();
    }
    if (key.empty()) return body;
    if (keys_.size() == keys_max) {
        by_key_.erase(keys_.front());
        keys_.pop_front();
    }
    keys_.emplace_back(key);
    by_key_.emplace(key, body);
    return body;
}

bool BodyQueue::give_up(const std::shared_ptr<Body>& body, std::string_view key) {
    const auto found = std::find(waiting_.begin(), waiting_.end(), body);
    if (found == waiting_.end() || (found == waiting_.begin() && first_read_ != 0)) return false;
    held_bytes_ -= body->bytes;
    waiting_.erase(found);
    body->answer.outcome = Outcome::given_up;
    if (const auto known = by_key_.find(key); known != by_key_.end() && known->second == body) {
        by_key_.erase(known);
        keys_.erase(std::find(keys_.begin(), keys_.end(), key));
    }
    answered_.notify_all();
    return true;
}

BodyQueue::Answer BodyQueue::hand_on(std::string text, std::string_view key,
                                     std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const std::shared_ptr<Body> body = add(std::move(text), key);
    if (body == nullptr) return {.outcome = Outcome::refused};
    const auto is_answered = [&] { return body->answer.outcome != Outcome::waits; };
    while (!answered_.wait_for(lock, patience, is_answered)) {
        if (give_up(body, key)) break;
    }
    return body->answer;
}

BodyQueue::Outcome BodyQueue::hand_on(std::string text) {
    std::unique_lock lock(mutex_);
    // The limit may have become smaller than a piece.
    has_read_.wait(lock, [&] { return is_closed_ || held_bytes_ == 0 || fits(text.size()); });
    held_bytes_ += text.size();
    const std::shared_ptr<Body> body = add(std::move(text), {});
    if (body == nullptr) return Outcome::refused;
    has_read_.wait(lock, [&] {
        return body->is_read || body->answer.outcome != Outcome::waits || !waits_for_reads_;
    });
    return body->answer.outcome;
}

void BodyQueue::end_waiting() {
    const std::lock_guard lock(mutex_);
    waits_for_reads_ = false;
    has_read_.notify_all();
}

ByteReader::Result BodyQueue::read(std::span<char> out, int wait_ms) {
    std::unique_lock lock(mutex_);
    if (waiting_.empty() && wait_ms > 0) {
        arrived_.wait_for(lock, std::chrono::milliseconds(wait_ms),
                          [this] { return !waiting_.empty(); });
    }
    std::size_t bytes = 0;
    while (bytes != out.size() && !waiting_.empty()) {
        Body& body = *waiting_.front();
        const std::size_t piece =
            body.text.copy(out.data() + bytes, out.size() - bytes, first_read_);
        bytes += piece;
        first_read_ += piece;
        read_bytes_ += piece;
        if (first_read_ != body.text.size()) break;
        held_bytes_ -= body.text.size();
        body.text = std::string{};
        body.end = read_bytes_;
        body.is_read = true;
        has_read_.notify_all();
        first_read_ = 0;
        read_.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    if (bytes == 0) return {ByteReader::Status::waiting, 0};
    return {ByteReader::Status::read, bytes};
}

std::uint64_t BodyQueue::bytes_waiting() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t bytes = 0;
    for (const auto& body : waiting_) bytes += body->bytes;
    return bytes - first_read_;
}

std::uint64_t BodyQueue::message_bytes_left() const {
    const std::lock_guard lock(mutex_);
    return first_read_ == 0 ? 0 : waiting_.front()->bytes - first_read_;
}

void BodyQueue::take_up_to(std::uint64_t bytes) {
    // While a journal is read again bytes are passed that are none of the bodies.
    bytes = std::min(bytes, read_bytes_);
    if (bytes <= taken_bytes_) return;
    taken_bytes_ = bytes;
    while (!read_.empty() && read_.front()->end <= bytes) {
        read_.front()->answer.outcome = Outcome::taken;
        read_.pop_front();
    }
    answered_.notify_all();
}

void BodyQueue::accepted(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    has_journal_ = true;
    take_up_to(bytes);
}

void BodyQueue::passed(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!has_journal_) take_up_to(bytes);
}

// A body that is not in the journal was not handled either. Without a journal rows may have been
// emitted.
void BodyQueue::close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    const auto outcome_of = [this](std::uint64_t begin) {
        return has_journal_ && begin >= taken_bytes_ ? Outcome::refused : Outcome::unknown;
    };
    for (const auto& body : read_) body->answer.outcome = outcome_of(body->end - body->bytes);
    read_.clear();
    for (const auto& body : waiting_) body->answer.outcome = Outcome::refused;
    if (first_read_ != 0) {
        waiting_.front()->answer.outcome = outcome_of(read_bytes_ - first_read_);
    }
    waiting_.clear();
    first_read_ = 0;
    answered_.notify_all();
    has_read_.notify_all();
}

bool BodyQueue::is_closed() const {
    const std::lock_guard lock(mutex_);
    return is_closed_;
}

}  // namespace strid::detail
