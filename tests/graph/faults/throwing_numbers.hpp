// SPDX-License-Identifier: Apache-2.0
//
// Numbers of which some are bad: a function throws on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strid::test {

inline constexpr std::uint64_t number_count = 300;

inline bool is_bad(std::uint64_t n) {
    return n % 7 == 3;
}
inline void check(std::uint64_t n) {
    if (is_bad(n)) throw std::runtime_error("bad " + std::to_string(n));
}
inline std::vector<std::uint64_t> numbers_that(const std::function<bool(std::uint64_t)>& are) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t n = 0; n < number_count; ++n) {
        if (are(n)) numbers.push_back(n);
    }
    return numbers;
}
inline const std::vector<std::uint64_t> good = numbers_that([](auto n) { return !is_bad(n); });
inline const std::vector<std::uint64_t> bad = numbers_that(is_bad);

template <class T>
std::vector<T> sorted(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    return values;
}

}  // namespace strid::test
