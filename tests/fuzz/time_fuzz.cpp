// SPDX-License-Identifier: Apache-2.0
//
// Times as text. The first byte chooses the unit. Invariant: a time written in the form in which it
// was read reads as the same time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <strid/base/error.hpp>

#include "../../tools/strid/window/table_plan.hpp"
#include "table_input.hpp"

namespace strid::fuzz {
namespace {

void check(std::uint8_t choice, std::string_view text) {
    static constexpr std::array<std::int64_t, 4> units{1'000'000'000, 1'000'000, 1'000, 1};
    const TimeNotation notation{.unit_ns = units[choice % units.size()]};
    EventTime time;
    TimeForm form;
    if (read_time(text, notation, time, form) != TimeFault::none) return;
    std::string written;
    append_time(written, time, form, notation);
    EventTime again;
    require(read_time(written, notation, again, form) == TimeFault::none);
    require(again == time || form.between == 0);
}

}  // namespace
}  // namespace strid::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    strid::fuzz::check(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
    return 0;
}
