// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "Reiterating the same collection two times": the minimum and the maximum of a vector of
// objects of 16 bytes, in two loops and in one.
#include <limits>
#include <utility>
#include <vector>

#include "tables.hpp"

namespace strid::bench {

namespace {

struct Object {
    std::int32_t number;
    std::int32_t others[3];
};
static_assert(sizeof(Object) == 16);

std::int32_t number_of(std::size_t i) {
    return static_cast<std::int32_t>(mixed(i) >> 34);
}

std::uint64_t answer_of(std::int32_t least, std::int32_t most) {
    return static_cast<std::uint64_t>(least) << 32 | static_cast<std::uint32_t>(most);
}

[[gnu::noinline]] std::int32_t minimum(const std::vector<Object>& objects) {
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (const Object& object : objects) least = std::min(least, object.number);
    return least;
}
[[gnu::noinline]] std::int32_t maximum(const std::vector<Object>& objects) {
    std::int32_t most = std::numeric_limits<std::int32_t>::min();
    for (const Object& object : objects) most = std::max(most, object.number);
    return most;
}
[[gnu::noinline]] std::uint64_t both(const std::vector<Object>& objects) {
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    std::int32_t most = std::numeric_limits<std::int32_t>::min();
    for (const Object& object : objects) {
        least = std::min(least, object.number);
        most = std::max(most, object.number);
    }
    return answer_of(least, most);
}

}  // namespace

void minimum_maximum(const TableOptions& options) {
    const std::size_t count = options.elements(100'000'000, sizeof(Object));
    std::vector<Object> objects(count);
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    std::int32_t most = std::numeric_limits<std::int32_t>::min();
    for (std::size_t i = 0; i != count; ++i) {
        const std::int32_t number = number_of(i);
        objects[i].number = number;
        if (number < least) least = number;
        if (number > most) most = number;
    }
    const std::uint64_t expected = answer_of(least, most);
    const std::size_t bytes = count * sizeof(Object);
    measure(options, {"min_max", "time", "two loops", count, bytes}, expected,
            [&] { return answer_of(minimum(objects), maximum(objects)); });
    measure(options, {"min_max", "time", "one loop", count, bytes}, expected,
            [&] { return both(objects); });
}

}  // namespace strid::bench
