// SPDX-License-Identifier: Apache-2.0
#include "message_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strid::kafka {

namespace {

/// The last value of a header; none: the message has no such header.
std::optional<std::string_view> header_of(const ::rd_kafka_message_t& message,
                                          const std::string& name) {
    ::rd_kafka_headers_t* headers = nullptr;
    const void* value = nullptr;
    std::size_t bytes = 0;
    if (::rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        ::rd_kafka_header_get_last(headers, name.c_str(), &value, &bytes) !=
            RD_KAFKA_RESP_ERR_NO_ERROR ||
        value == nullptr) {
        return std::nullopt;
    }
    return std::string_view{static_cast<const char*>(value), bytes};
}

}  // namespace

MessageText::MessageText(TransportAddress& address)
    : fields_(address, {"key", "time", "partition", "offset"}, true) {
    const std::string tombstones = address.take("tombstones");
    if (tombstones.empty()) return;
    if (tombstones != "rows") address.refuse("tombstones of an input is rows");
    const auto& names = fields_.names();
    if (std::find(names.begin(), names.end(), "key") == names.end()) {
        address.refuse("tombstones=rows needs with=key: a tombstone has nothing but its key");
    }
    has_tombstones_ = true;
}

bool MessageText::append(std::string& out, const ::rd_kafka_message_t& message) {
    std::string_view row = "{}";  // of a tombstone: its members are those of `with` alone
    if (message.payload != nullptr) {
        row = {static_cast<const char*>(message.payload), message.len};
    } else if (!has_tombstones_) {
        return false;
    }
    const auto& names = fields_.names();
    std::vector<detail::MessageFields::Value> values(names.size());
    std::array<std::string, 3> numbers;
    std::size_t used = 0;
    const auto number = [&](std::int64_t of) {
        return detail::MessageFields::Value{numbers[used++] = std::to_string(of), true};
    };
    for (std::size_t i = 0; i != names.size(); ++i) {
        if (names[i] == "partition") {
            values[i] = number(message.partition);
        } else if (names[i] == "offset") {
            values[i] = number(message.offset);
        } else if (names[i] == "time") {
            ::rd_kafka_timestamp_type_t type{};
            const std::int64_t ms = ::rd_kafka_message_timestamp(&message, &type);
            if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE) values[i] = number(ms);
        } else if (names[i] == "key") {
            if (message.key == nullptr) continue;
            values[i].text = {static_cast<const char*>(message.key), message.key_len};
        } else {
            values[i].text = header_of(message, names[i].substr(names[i].find('.') + 1));
        }
    }
    fields_.append(out, row, values);
    return true;
}

}  // namespace strid::kafka
