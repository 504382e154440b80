// SPDX-License-Identifier: Apache-2.0
//
// Options as text: windows, aggregates, columns, durations, rates, replicas, processors. The first
// byte chooses which. Invariant: the text is read, or refused with a GraphError that has a message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <strid/base/error.hpp>
#include <strid/base/time_zone.hpp>
#include <strid/program/arguments.hpp>

#include "../../tools/strid/window/window_spec.hpp"
#include "table_input.hpp"

namespace strid::fuzz {
namespace {

void check(std::uint8_t choice, std::string_view text) {
    RunOptions options;
    switch (choice % 7) {
        case 0:
            static_cast<void>(tool::read_windows(text, TimeZone{}, Duration::zero()));
            break;
        case 1:
            tool::TablePlan{}.read_aggregates(text);
            break;
        case 2:
            require(!tool::read_columns(text).empty() || text.empty());
            break;
        case 3:
            require(read_duration(text).count() > 0);
            break;
        case 4:
            require(read_rate(text) > 0);
            break;
        case 5:
            read_parallelism(text, options);
            break;
        default:
            static_cast<void>(read_affinity(text));
            break;
    }
}

}  // namespace
}  // namespace strid::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        strid::fuzz::check(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
    } catch (const strid::GraphError& error) {
        strid::fuzz::require(error.what()[0] != '\0');
    }
    return 0;
}
