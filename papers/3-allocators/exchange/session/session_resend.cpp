// SPDX-License-Identifier: Apache-2.0
//
// Resends, in parts: of a client one part is on its way at most, and the next one is read when the
// client has taken it. So a request costs what the client reads, and other users wait for one part.
#include <algorithm>
#include <utility>

#include "session/session.hpp"

namespace strid::exchange {

using fix::Message;
using fix::Tag;

namespace {

/// Of one part, beside those that are kept.
constexpr std::size_t unkept_max = 128;

}  // namespace

void Session::resend(std::int64_t from, std::int64_t until, Actions& actions) {
    if (resend_.next == 0) {
        resend_ = {from, until, numbers_.next_outgoing};
        return resend_part(actions);
    }
    // Requests that come meanwhile are answered together.
    if (next_resend_.next == 0) next_resend_ = {from, until, 0};
    next_resend_.next = std::min(next_resend_.next, from);
    next_resend_.until = std::max(next_resend_.until, until);
}

void Session::resend_part(Actions& actions) {
    if (resend_.next > resend_.until && resend_.next < resend_.fresh_from) {
        resend_.next = resend_.fresh_from;
    }
    const std::int64_t last = numbers_.next_outgoing - 1;
    if (resend_.next > last) {
        resend_ = {};
        const Resend asked = std::exchange(next_resend_, {});
        if (asked.next != 0) resend(asked.next, asked.until, actions);
        return;
    }
    Action& action = act(Action::Kind::resend, actions);
    action.sequence = resend_.next;
    action.fresh = resend_.next >= resend_.fresh_from;
    action.until = action.fresh ? last : resend_.until;
    // The header of the gap fills; their numbers are known when the part is read.
    Message header("4");
    header.set(Tag::sender_comp_id, rules_->exchange).set(Tag::target_comp_id, user_);
    action.message = std::make_shared<const Message>(std::move(header));
    if (!action.fresh) return;
    for (const auto& [sequence, one] : unkept_) {
        if (action.unkept.size() == unkept_max) {
            action.until = action.unkept.rbegin()->first;
            break;
        }
        action.unkept.emplace(sequence, one.message);
    }
}

void Session::on_written(const Event& event, Actions& actions) {
    if (resend_.next == 0) return;
    if (event.fault) return log_out(event.fault->text, actions);
    resend_.next = event.next;
    while (!unkept_.empty() && unkept_.begin()->first < event.next) {
        unkept_bytes_ -= unkept_.begin()->second.share.bytes();
        unkept_.erase(unkept_.begin());
    }
    resend_part(actions);
}

bool Session::hold(Action& action) {
    action.held = true;
    if (action.kept) return true;
    constexpr std::size_t node_bytes = sizeof(Unkept) + 64;
    const std::size_t bytes = fix::kept_bytes(*action.message) + node_bytes;
    Unkept unkept{action.message, {}};
    if (unkept_bytes_ + bytes > rules_->waiting_bytes_max) return false;
    if (!unkept.share.take(rules_->waiting_bytes, bytes)) return false;
    unkept_bytes_ += bytes;
    unkept_.emplace(action.sequence, std::move(unkept));
    return true;
}

}  // namespace strid::exchange
