// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/plan/handle.hpp>

namespace strid::graph {

void Handle::check_not_consumed() const {
    if (!consumed.yes) return;
    throw GraphError(
        fmt::format("the stream behind operator '{}' was moved from: to read it twice, tee it "
                    "(auto [a, b] = std::move(stream).tee<2>())",
                    segments->described[last]));
}

OperatorInfo Handle::describe(const OperatorOptions& options, std::string_view kind) const {
    check_not_consumed();
    const std::size_t number = segments->described.size() + 1;
    segments->described.push_back(options.name.empty() ? fmt::format("{}-{}", kind, number)
                                                       : options.name);
    return {segments->described.back(), std::string(kind), options};
}

void Handle::join(const Handle& other) {
    if (other.segments != segments) throw GraphError("merge of streams of two different graphs");
    origins.insert(origins.end(), other.origins.begin(), other.origins.end());
    assigned_time = operators::assigned_time_of_both(assigned_time, other.assigned_time);
}

Handle Handle::behind_edge() const {
    return {.segments = segments, .last = last, .assigned_time = assigned_time};
}

std::string Handle::behind(const char* what) const {
    return fmt::format("{} behind {}", what, segments->described[last]);
}

void check_stops(const OperatorInfo& info) {
    if (info.on_exception == OnException::stop) return;
    throw GraphError(fmt::format("operator '{}' ({}) cannot skip a record when something throws",
                                 info.name, info.kind));
}

void Handle::add(OperatorInfo next) {
    operators.push_back(std::move(next));
    last = segments->described.size() - 1;
}

}  // namespace strid::graph
