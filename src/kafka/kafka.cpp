// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include <strid/connector/transport.hpp>
#include <strid/kafka/kafka.hpp>

#include "group_input.hpp"
#include "input.hpp"
#include "output.hpp"

namespace strid {

namespace kafka {
namespace {

std::unique_ptr<TransportInput> make_input(TransportAddress address) {
    if (!address.take("group.id").empty()) address.refuse("a group is joined by group=NAME");
    if (!address.take("partition.assignment.strategy").empty()) {
        address.refuse("a group is joined with cooperative-sticky, and with nothing else");
    }
    std::string group = address.take("group");
    if (group.empty()) return std::make_unique<TopicInput>(std::move(address));
    return std::make_unique<GroupInput>(std::move(group), std::move(address));
}

}  // namespace
}  // namespace kafka

void use_kafka() {
    add_transport(
        {.scheme = "kafka", .input = &kafka::make_input, .output = [](TransportAddress address) {
             return std::make_unique<kafka::TopicOutput>(std::move(address));
         }});
}

}  // namespace strid
