// SPDX-License-Identifier: Apache-2.0
#include "fix/message.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

namespace strid::exchange::fix {

namespace {

void check(int tag, std::string_view value) {
    if (tag <= 0 || tag == Tag::begin_string || tag == Tag::body_length || tag == Tag::check_sum ||
        tag == Tag::msg_type) {
        throw std::invalid_argument(fmt::format("tag {} cannot be set", tag));
    }
    if (value.empty()) {
        throw FieldError(tag, Reason::tag_without_value, fmt::format("tag {} has no value", tag));
    }
    if (value.find(soh) != std::string_view::npos) {
        throw FieldError(tag, Reason::incorrect_format,
                         fmt::format("the value of tag {} has a SOH in it", tag));
    }
}

/// The digits of a number, without a heap.
struct Digits {
    explicit Digits(std::int64_t number)
        : end(std::to_chars(text, text + sizeof text, number).ptr) {}
    [[nodiscard]] std::string_view view() const noexcept {
        return {text, static_cast<std::size_t>(end - text)};
    }
    char text[20];
    char* end;
};

void append_field(std::string& out, int tag, std::string_view value) {
    out += Digits(tag).view();
    out += '=';
    out += value;
    out += soh;
}

}  // namespace

bool is_header(int tag) noexcept {
    switch (tag) {
        case Tag::msg_seq_num:
        case Tag::poss_dup_flag:
        case Tag::sender_comp_id:
        case 50:  // SenderSubID
        case Tag::sending_time:
        case Tag::target_comp_id:
        case 57:   // TargetSubID
        case 90:   // SecureDataLen
        case 91:   // SecureData
        case 97:   // PossResend
        case 115:  // OnBehalfOfCompID
        case 116:  // OnBehalfOfSubID
        case Tag::orig_sending_time:
        case 128:  // DeliverToCompID
        case 129:  // DeliverToSubID
        case 142:  // SenderLocationID
        case 143:  // TargetLocationID
        case 144:  // OnBehalfOfLocationID
        case 145:  // DeliverToLocationID
        case 212:  // XmlDataLen
        case 213:  // XmlData
        case 347:  // MessageEncoding
        case 627:  // NoHops
        case 628:  // HopCompID
        case 629:  // HopSendingTime
        case 630:  // HopRefID
        case 369:  // LastMsgSeqNumProcessed
            return true;
        default:
            return false;
    }
}

std::size_t kept_bytes(const Message& message) noexcept {
    // Two pointers of the list, and the head of each block of the allocator.
    constexpr std::size_t node_bytes = sizeof(Field) + 2 * sizeof(void*) + 8;
    const std::size_t inside = std::string().capacity();
    std::size_t bytes = sizeof(Message) + message.size() * node_bytes;
    for (const Field& field : message) {
        if (field.value.capacity() > inside) bytes += field.value.capacity() + 9;
    }
    return bytes;
}

Message& Message::set(int tag, std::string_view value) {
    check(tag, value);
    for (Field& field : fields_) {
        if (field.tag == tag) {
            field.value = value;
            return *this;
        }
    }
    fields_.emplace_back(tag, std::string(value));
    return *this;
}

Message& Message::set(int tag, std::int64_t value) {
    return set(tag, Digits(value).view());
}

Message& Message::add(int tag, std::string_view value) {
    check(tag, value);
    fields_.emplace_back(tag, std::string(value));
    return *this;
}

Message& Message::add(int tag, std::int64_t value) {
    return add(tag, Digits(value).view());
}

void Message::erase(int tag) noexcept {
    fields_.remove_if([tag](const Field& field) { return field.tag == tag; });
}

void Message::clear() noexcept {
    type_.clear();
    fields_.clear();
}

const std::string* Message::find(int tag) const noexcept {
    for (const Field& field : fields_) {
        if (field.tag == tag) return &field.value;
    }
    return nullptr;
}

const std::string& Message::get(int tag) const {
    if (const std::string* value = find(tag)) return *value;
    throw FieldError(tag, Reason::required_tag_missing, fmt::format("tag {} is missing", tag));
}

std::string_view Message::get_or(int tag, std::string_view absent) const noexcept {
    const std::string* value = find(tag);
    return value != nullptr ? std::string_view(*value) : absent;
}

std::int64_t Message::integer(int tag) const {
    const std::string& text = get(tag);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw FieldError(tag, Reason::incorrect_format,
                         fmt::format("tag {} is no whole number: '{}'", tag, text));
    }
    return number;
}

std::int64_t Message::integer_or(int tag, std::int64_t absent) const {
    return has(tag) ? integer(tag) : absent;
}

bool Message::flag(int tag) const {
    const std::string_view text = get_or(tag, "N");
    if (text == "Y") return true;
    if (text == "N") return false;
    throw FieldError(tag, Reason::value_out_of_range,
                     fmt::format("tag {} is neither Y nor N: '{}'", tag, text));
}

std::string Message::encode() const {
    std::string out;
    encode_to(out);
    return out;
}

void Message::encode_to(std::string& out, const Field* extra) const {
    std::string body;
    append_field(body, Tag::msg_type, type_);
    for (const Field& field : fields_) {
        if (is_header(field.tag)) append_field(body, field.tag, field.value);
    }
    for (const Field& field : fields_) {
        if (!is_header(field.tag)) append_field(body, field.tag, field.value);
    }
    if (extra != nullptr) append_field(body, extra->tag, extra->value);
    const std::size_t begin = out.size();
    append_field(out, Tag::begin_string, begin_string);
    append_field(out, Tag::body_length, Digits(static_cast<std::int64_t>(body.size())).view());
    out += body;
    const auto sum = std::accumulate(
        out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), 0U,
        [](unsigned total, char byte) { return total + static_cast<unsigned char>(byte); });
    append_field(out, Tag::check_sum, fmt::format("{:03}", sum % 256));
}

std::string Message::to_text() const {
    std::string text = encode();
    std::replace(text.begin(), text.end(), soh, '|');
    return text;
}

}  // namespace strid::exchange::fix
