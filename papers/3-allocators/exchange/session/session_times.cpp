// SPDX-License-Identifier: Apache-2.0
//
// SendingTime (52) and OrigSendingTime (122) of a client's message, as FIX 4.4, volume 2, asks for.
#include <chrono>

#include <fmt/format.h>

#include "fix/time_text.hpp"
#include "session/session.hpp"

namespace strid::exchange {

using fix::FieldError;
using fix::FieldFault;
using fix::Message;
using fix::Reason;
using fix::Tag;
using std::chrono::system_clock;

namespace {

system_clock::time_point read_time(const Message& message, int tag, const char* name) {
    const std::string& text = message.get(tag);
    if (const auto time = fix::read_utc_timestamp(text)) return *time;
    throw FieldError(tag, Reason::incorrect_format,
                     fmt::format("{} ({}) is no UTCTimestamp: '{}'", name, tag, text));
}

std::shared_ptr<const FieldFault> fault_of(int tag, int reason, std::string text) {
    return std::make_shared<const FieldFault>(FieldFault{tag, reason, std::move(text)});
}

}  // namespace

Session::TimeFault Session::check_times(const Message& message) const {
    try {
        const auto sent = read_time(message, Tag::sending_time, "SendingTime");
        const auto difference = std::chrono::abs(system_clock::now() - sent);
        const auto limit = rules_->clock_difference_max;
        if (limit.count() != 0 && difference > limit) {
            return {
                fault_of(Tag::sending_time, Reason::sending_time_problem,
                         fmt::format("SendingTime accuracy problem: {} is {} s from {}",
                                     message.get(Tag::sending_time),
                                     difference / std::chrono::seconds(1), fix::utc_timestamp())),
                true};
        }
        // A gap fill is none of the messages that were sent once.
        if (!message.flag(Tag::poss_dup_flag)) return {};
        if (message.is("4") && !message.has(Tag::orig_sending_time)) return {};
        if (read_time(message, Tag::orig_sending_time, "OrigSendingTime") > sent) {
            return {fault_of(Tag::orig_sending_time, Reason::sending_time_problem,
                             "SendingTime accuracy problem: OrigSendingTime (122) is behind "
                             "SendingTime (52)"),
                    true};
        }
        return {};
    } catch (const FieldError& error) {
        return {fault_of(error.tag(), error.reason(), error.what()), false};
    }
}

}  // namespace strid::exchange
