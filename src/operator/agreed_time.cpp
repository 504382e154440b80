// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/operator/agreed_time.hpp>

namespace strid::operators {

AssignedTimePointer assigned_time_of_both(AssignedTimePointer one, AssignedTimePointer other) {
    if (one == other) return one;
    if (one == nullptr || other == nullptr || one->record != other->record) return nullptr;
    const std::type_index record = one->record;
    return std::make_shared<const AssignedTime>(
        AssignedTime{record,
                     [one = std::move(one),
                      other = std::move(other)](const void* asked) -> std::optional<EventTime> {
                         const auto of_one = one->of(asked);
                         const auto of_other = other->of(asked);
                         if (of_one && of_other && *of_one != *of_other) return std::nullopt;
                         return of_one ? of_one : of_other;
                     }});
}

void throw_times_differ(EventTime assigned, EventTime taken) {
    throw Error(
        fmt::format("the time function given here says {} ns of a record of which that of "
                    "event_time says {} ns: the watermark speaks of the latter, so give both the "
                    "same",
                    taken.ns(), assigned.ns()));
}

}  // namespace strid::operators
