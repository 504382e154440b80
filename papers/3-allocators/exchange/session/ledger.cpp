// SPDX-License-Identifier: Apache-2.0
#include "session/ledger.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "fix/decoder.hpp"
#include "fix/time_text.hpp"
#include "link/core_tags.hpp"

namespace strid::exchange {

using fix::Message;
using fix::Tag;

namespace {

/// With each transaction.
constexpr std::size_t parts_max = 2;
/// Of one part.
constexpr std::size_t part_messages_max = 128;
constexpr std::size_t part_bytes_max = std::size_t{64} << 10;

}  // namespace

Ledger::Ledger(Store& store, CoreLink& core, DataLink& data, const Log& log)
    : store_(store),
      core_(core),
      data_(data),
      log_(log),
      reports_(store.reports()),
      next_command_(store.next_command()) {}

void Ledger::carry_out(const std::vector<Action>& actions) {
    commands_.clear();
    frames_.clear();
    const std::int64_t command_before = next_command_;
    const std::int64_t confirmed = data_.confirmed();
    bool has_reports = false;
    // Of several actions for a user the numbers of the last count.
    std::map<std::string, SequenceNumbers> numbers;
    store_.begin();
    for (const Action& action : actions) {
        store(action);
        if (action.report != 0) {
            reports_.done(action.report);
            has_reports = true;
        }
        // A connection that was refused is no reason to know a user.
        if (action.next_incoming > 1 || action.next_outgoing > 1) {
            numbers[action.user] = {action.next_incoming, action.next_outgoing};
        }
    }
    for (const auto& [user, both] : numbers) store_.put_numbers(user, both);
    if (next_command_ != command_before) store_.put_next_command(next_command_);
    if (has_reports) store_.put_reports(reports_);
    if (confirmed != dropped_below_) store_.drop_commands_below(confirmed);
    dropped_below_ = confirmed;
    for (std::size_t parts = 0; parts < parts_max && !resends_.empty(); ++parts) {
        resend_part(resends_.front());
        resends_.pop_front();
    }
    store_.commit();
    ++commits_;

    if (!commands_.empty()) data_.add(std::move(commands_));
    if (has_reports) data_.confirm_reports_below(reports_.next);
    for (const Frames& frames : frames_) core_.send(frames.link, frames.bytes);
}

void Ledger::store(const Action& action) {
    switch (action.kind) {
        case Action::Kind::state:
            return;
        case Action::Kind::send:
            return send(action);
        case Action::Kind::command:
            return send_command(action);
        case Action::Kind::resend:
            resends_.push_back(action);
            return;
        case Action::Kind::reset:
            store_.forget_messages(action.user);
            store_.put_numbers(action.user, {});
            return;
        case Action::Kind::close:
            return close(action);
    }
}

void Ledger::close(const Action& action) {
    std::erase_if(resends_,
                  [&](const Action& part) { return part.connection == action.connection; });
    Message message(close_connection);
    if (!action.reason.empty()) message.set(Tag::text, action.reason);
    to_core(action, message);
}

void Ledger::to_core(const Action& action, const Message& message) {
    if (action.connection == 0) return;
    const std::uint64_t link = link_of(action.connection);
    if (frames_.empty() || frames_.back().link != link) frames_.push_back({link, {}});
    const fix::Field connection{CoreTag::connection,
                                std::to_string(number_in_core(action.connection))};
    message.encode_to(frames_.back().bytes, &connection);
}

void Ledger::send(const Action& action) {
    if (action.kept) store_.keep_message(action.user, action.sequence, action.message->encode());
    if (!action.held) to_core(action, *action.message);
}

void Ledger::send_command(const Action& action) {
    const fix::Field number{Tag::msg_seq_num, std::to_string(next_command_)};
    StoredCommand command{next_command_++, {}};
    action.message->encode_to(command.bytes, &number);
    store_.add_command(command.sequence, command.bytes);
    commands_.push_back(std::move(command));
}

void Ledger::resend_part(const Action& action) {
    std::int64_t next = action.sequence;
    auto unkept = action.unkept.begin();
    std::size_t messages = 0;
    std::size_t bytes = 0;
    std::string fault;
    const auto has_room = [&] { return messages < part_messages_max && bytes < part_bytes_max; };
    const auto bring_unkept = [&](std::int64_t below) {
        for (; unkept != action.unkept.end() && unkept->first < below && has_room(); ++unkept) {
            if (unkept->first > next) gap_fill(action, next, unkept->first);
            to_core(action, *unkept->second);
            next = unkept->first + 1;
            ++messages;
            bytes += fix::kept_bytes(*unkept->second);
        }
        return has_room();
    };
    store_.each_message(action.user, action.sequence, action.until,
                        [&](std::int64_t sequence, std::string_view text, bool is_sound) {
                            if (!bring_unkept(sequence)) return false;
                            if (sequence > next) gap_fill(action, next, sequence);
                            next = sequence;
                            if (!is_sound || !resend_one(action, sequence, text)) {
                                fault = fmt::format(
                                    "message {} is damaged in the store of the exchange", sequence);
                                log_.say(fmt::format("{}: {}", action.user, fault));
                                return false;
                            }
                            next = sequence + 1;
                            ++messages;
                            bytes += text.size();
                            return has_room();
                        });
    if (fault.empty() && bring_unkept(action.until + 1) && next <= action.until) {
        gap_fill(action, next, action.until + 1);
        next = action.until + 1;
    }
    Message mark(output_written);
    mark.set(CoreTag::next, next);
    if (!fault.empty()) {
        mark.set(CoreTag::fault_reason, fix::Reason::other).set(CoreTag::fault_text, fault);
    }
    to_core(action, mark);
}

// False where it cannot be read.
bool Ledger::resend_one(const Action& action, std::int64_t sequence, std::string_view bytes) {
    fix::Decoder decoder;
    decoder.feed(bytes);
    Message message;
    if (decoder.next(message) != fix::Decoded::message) return false;
    if (message.integer_or(Tag::msg_seq_num, 0) != sequence) return false;
    if (!action.fresh) {
        const std::string now = fix::utc_timestamp();
        message.set(Tag::poss_dup_flag, "Y");
        message.set(Tag::orig_sending_time, message.get_or(Tag::sending_time, now));
        message.set(Tag::sending_time, now);
    }
    to_core(action, message);
    return true;
}

void Ledger::gap_fill(const Action& action, std::int64_t from, std::int64_t next) {
    const std::string now = fix::utc_timestamp();
    Message message = *action.message;
    message.set(Tag::msg_seq_num, from).set(Tag::poss_dup_flag, "Y");
    message.set(Tag::sending_time, now).set(Tag::orig_sending_time, now);
    message.set(Tag::gap_fill_flag, "Y").set(Tag::new_seq_no, next);
    to_core(action, message);
}

}  // namespace strid::exchange
