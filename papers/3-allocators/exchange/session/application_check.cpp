// SPDX-License-Identifier: Apache-2.0
//
// Checks the messages of the application before they are passed to the data manager: fields that
// are there and have the form of their type. Whether an order makes sense is for that to say.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "fix/time_text.hpp"
#include "session/session.hpp"

namespace strid::exchange {

using fix::FieldError;
using fix::Message;
using fix::Reason;
using fix::Tag;

namespace {

constexpr std::size_t application_fields_max = 200;
constexpr std::size_t comp_id_max = 64;

void check_one_of(const Message& message, int tag, std::string_view allowed) {
    const std::string& value = message.get(tag);
    if (value.size() != 1 || allowed.find(value) == std::string_view::npos) {
        throw FieldError(tag, Reason::value_out_of_range,
                         fmt::format("tag {} is not one of {}: '{}'", tag, allowed, value));
    }
}

/// One character that names a side, a type or a lifetime. Whether the exchange has that one is for
/// the data manager to say, in an ExecutionReport.
void check_name(const Message& message, int tag) {
    const std::string& value = message.get(tag);
    const auto is_one = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    if (value.size() != 1 || !is_one(value[0])) {
        throw FieldError(tag, Reason::value_out_of_range,
                         fmt::format("tag {} is not one digit or letter: '{}'", tag, value));
    }
}

/// Digits with a point among them, maybe.
bool is_decimal(std::string_view text) noexcept {
    bool digit = false;
    bool point = false;
    for (const char c : text) {
        if (c == '.' ? point : c < '0' || c > '9') return false;
        (c == '.' ? point : digit) = true;
    }
    return digit;
}

void check_decimal(const Message& message, int tag) {
    const std::string& value = message.get(tag);
    if (!is_decimal(value)) {
        throw FieldError(tag, Reason::incorrect_format,
                         fmt::format("tag {} is no number above 0: '{}'", tag, value));
    }
}

void check_size(const Message& message) {
    if (message.size() <= application_fields_max && bytes_of(message) <= application_bytes_max) {
        return;
    }
    throw FieldError(0, Reason::other,
                     fmt::format("{} fields of {} bytes: more than {} or {}", message.size(),
                                 bytes_of(message), application_fields_max, application_bytes_max));
}

void check_once(const Message& message) {
    for (auto one = message.begin(); one != message.end(); ++one) {
        for (auto other = message.begin(); other != one; ++other) {
            if (one->tag == other->tag) {
                throw FieldError(one->tag, Reason::tag_more_than_once,
                                 fmt::format("tag {} stands there twice", one->tag));
            }
        }
    }
}

void check_order(const Message& message) {
    check_once(message);
    (void)message.get(Tag::cl_ord_id);
    (void)message.get(Tag::symbol);
    check_name(message, Tag::side);
    if (message.is("F")) return;
    check_decimal(message, Tag::order_qty);
    check_name(message, Tag::ord_type);
    if (message.get(Tag::ord_type) == "2") check_decimal(message, Tag::price);
    if (message.has(Tag::time_in_force)) check_name(message, Tag::time_in_force);
}

}  // namespace

std::size_t bytes_of(const Message& message) noexcept {
    std::size_t bytes = 0;
    for (const fix::Field& field : message) bytes += field.value.size();
    return bytes;
}

bool is_comp_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= comp_id_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void check_application(const Message& message) {
    check_size(message);
    if (message.is("V")) {
        if (!is_comp_id(message.get(Tag::md_req_id))) {
            throw FieldError(Tag::md_req_id, Reason::value_out_of_range,
                             "MDReqID (262) is not 1 to 64 characters of ASCII");
        }
        check_one_of(message, Tag::subscription_request_type, "012");
        return;
    }
    if (!message.is("D")) (void)message.get(Tag::orig_cl_ord_id);
    check_order(message);
    if (const std::string* time = message.find(Tag::transact_time)) {
        if (!fix::read_utc_timestamp(*time)) {
            throw FieldError(Tag::transact_time, Reason::incorrect_format,
                             fmt::format("TransactTime is no UTCTimestamp: '{}'", *time));
        }
    }
}

bool is_message_type(std::string_view type) noexcept {
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    if (type.size() == 1) return is_letter(type[0]) || (type[0] >= '0' && type[0] <= '9');
    return type.size() == 2 && is_letter(type[0]) && is_letter(type[1]);
}

}  // namespace strid::exchange
