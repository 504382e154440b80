// SPDX-License-Identifier: Apache-2.0
//
// Messages that came too early: they wait, as bytes and within bounds, until those before them have
// come.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fix/decoder.hpp"
#include "session/session.hpp"

namespace strid::exchange {

using fix::Message;

namespace {

/// Of bytes that encode() made.
std::shared_ptr<const Message> decoded(const std::string& bytes) {
    auto message = std::make_shared<Message>();
    std::optional<fix::FieldFault> fault;
    fix::Garbled garbled;
    (void)fix::parse(bytes, *message, fault, garbled);
    return message;
}

}  // namespace

void Session::on_too_early(const Incoming& one, std::int64_t sequence, Actions& actions) {
    // Answered out of turn: both sides might wait for each other's messages otherwise.
    if (one.message->is("2")) {
        try_to(&Session::on_resend_request, *one.message, actions);
        if (!wait_for_turn({std::make_shared<const Message>("0"), nullptr}, sequence, actions)) {
            return;
        }
    } else if (bytes_of(*one.message) <= application_bytes_max) {
        // A larger one is asked for again, to be rejected in its turn.
        if (!wait_for_turn(one, sequence, actions)) return;
    }
    if (one.message->is("5")) return on_logout(actions);
    if (requested_until_ >= numbers_.next_incoming) return;  // it is on its way
    requested_until_ = sequence;
    request_resend(actions);
}

bool Session::wait_for_turn(const Incoming& one, std::int64_t sequence, Actions& actions) {
    constexpr std::size_t node_bytes = sizeof(Waiting) + 64;
    Waiting waiting{one.message->encode(), one.fault, {}};
    const std::size_t bytes = waiting.bytes.capacity() + node_bytes;
    const auto old = waiting_.find(sequence);
    if (old != waiting_.end()) {
        waiting_bytes_ -= old->second.share.bytes();
        waiting_.erase(old);
    }
    const bool has_room = waiting_bytes_ + bytes <= rules_->waiting_bytes_max;
    if (has_room && waiting.share.take(rules_->waiting_bytes, bytes)) {
        waiting_bytes_ += bytes;
        waiting_.emplace(sequence, std::move(waiting));
        return true;
    }
    log_out(fmt::format("messages that wait for number {} take more than {} bytes of {}",
                        numbers_.next_incoming,
                        has_room ? rules_->waiting_bytes->bytes_max() : rules_->waiting_bytes_max,
                        has_room ? "all sessions" : "this session"),
            actions);
    return false;
}

void Session::accept_waiting(Actions& actions) {
    while (connection_ != 0 && !waiting_.empty()) {
        const auto first = waiting_.begin();
        if (first->first > numbers_.next_incoming) break;
        const Waiting one = std::move(first->second);
        const bool is_next = first->first == numbers_.next_incoming;
        waiting_bytes_ -= one.share.bytes();
        waiting_.erase(first);
        if (is_next) accept({decoded(one.bytes), one.fault}, actions);
    }
    if (connection_ == 0 || requested_until_ == 0) return;
    if (numbers_.next_incoming > requested_until_) requested_until_ = 0;
    // Messages that were dropped during the resend are requested again.
    if (requested_until_ == 0 && !waiting_.empty()) {
        requested_until_ = waiting_.rbegin()->first;
        request_resend(actions);
    }
}

}  // namespace strid::exchange
