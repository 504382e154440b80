// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/transport.hpp>
#include <strid/kafka/kafka.hpp>

#include "group_input.hpp"
#include "input.hpp"
#include "output.hpp"

namespace strid {

namespace kafka {
namespace {

bool has(const TransportAddress& address, std::string_view option) {
    return std::any_of(address.left().begin(), address.left().end(),
                       [option](const auto& one) { return one.first == option; });
}

/// The client would refuse them as settings that it does not know.
void refuse_options(const TransportAddress& address, std::string_view reason,
                    std::initializer_list<std::string_view> options) {
    for (const std::string_view option : options) {
        if (has(address, option)) address.refuse(fmt::format("{}= {}", option, reason));
    }
}

std::unique_ptr<TransportInput> make_input(TransportAddress address) {
    refuse_options(address, "is an option of an output", {"header", "key", "format", "sink"});
    if (!address.take("group.id").empty()) address.refuse("a group is joined by group=NAME");
    if (!address.take("partition.assignment.strategy").empty()) {
        address.refuse("a group is joined with cooperative-sticky, and with nothing else");
    }
    if (!has(address, "group")) {
        refuse_options(address, "needs group=NAME", {"settle"});
        return std::make_unique<TopicInput>(std::move(address));
    }
    std::string group = address.take("group");
    if (group.empty()) address.refuse("group= has no name: a group is joined by group=NAME");
    return std::make_unique<GroupInput>(std::move(group), std::move(address));
}

std::unique_ptr<TransportOutput> make_output(TransportAddress address) {
    refuse_options(address, "is an option of an input",
                   {"group", "settle", "partition", "start", "until", "with"});
    return std::make_unique<TopicOutput>(std::move(address));
}

}  // namespace
}  // namespace kafka

void use_kafka() {
    add_transport({.scheme = "kafka", .input = &kafka::make_input, .output = &kafka::make_output});
}

}  // namespace strid
