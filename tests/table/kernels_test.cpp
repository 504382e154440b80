// SPDX-License-Identifier: Apache-2.0
//
// Kernels against each other: the loops for processors with AVX2, the loops for all of them, the
// loop over a list and the operation itself, for every number of rows that a vector leaves over.
// The kernels are compiled once more here, because a program chooses one of the loops for good.
#define kernels_for kernels_for_of_test
#include "../../src/table/kernels.cpp"
#undef kernels_for

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/table/chunk.hpp>

#include "../support/seeds.hpp"

namespace strid::table::detail {
namespace {

template <class V>
V random_operand(std::mt19937_64& random) {
    if constexpr (sizeof(V) == 1) {
        return static_cast<V>(random() % 2);
    } else if constexpr (std::is_same_v<V, std::int64_t>) {
        using Limits = std::numeric_limits<std::int64_t>;
        constexpr std::array edges{Limits::min(),     Limits::max(),        std::int64_t{0},
                                   std::int64_t{-1},  std::int64_t{1},      decimal_bound - 1,
                                   1 - decimal_bound, std::int64_t{1} << 31};
        if (random() % 3 == 0) return edges[random() % edges.size()];
        return static_cast<std::int64_t>(random()) >> (random() % 64);
    } else {
        using Limits = std::numeric_limits<double>;
        constexpr std::array edges{0.0,           -0.0,          1.0,
                                   Limits::max(), Limits::min(), Limits::quiet_NaN(),
                                   0x1p53,        0x1p-1074,     Limits::infinity()};
        if (random() % 2 == 0) return edges[random() % edges.size()];
        return static_cast<double>(static_cast<int>(random() % 2001) - 1000) / 8;
    }
}

template <class Op>
constexpr bool is_of_decimals =
    std::is_same_v<Op, DecimalSum<AddInt>> || std::is_same_v<Op, DecimalSum<SubtractInt>> ||
    std::is_same_v<Op, MultiplyDecimal>;

template <class Op>
class Checked {
  public:
    using V = typename Op::Value;
    using R = typename Op::Result;

    explicit Checked(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        // Faults are rare, so that a row alone decides.
        for (std::size_t i = 0; i != a_.size(); ++i) {
            a_[i] = random_operand<V>(random);
            b_[i] = random_operand<V>(random);
            if constexpr (is_of_decimals<Op>) {
                a_[i] %= decimal_bound;
                b_[i] %= decimal_bound;
            }
            if (!has_fault(a_[i], b_[i]) || random() % 16 == 0) continue;
            a_[i] = b_[i] = V{1};
        }
        std::iota(every_.begin(), every_.end(), std::uint16_t{0});
    }

    void check(std::size_t count) {
        check_steps<1, 1>(count);
        check_steps<0, 1>(count);
        check_steps<1, 0>(count);
    }

  private:
    static constexpr std::size_t rows_max = chunk_rows_max;

    static bool has_fault(V a, V b) {
        if constexpr (Op::has_faults) return Op::fault(a, b) != nullptr;
        return false;
    }

    template <std::size_t a_step, std::size_t b_step>
    void check_steps(std::size_t count) {
        // Behind the last row nothing is written.
        const std::size_t rows = std::min(count + 16, rows_max);
        std::vector<R> expected(rows, R{7});
        bool has_faults = false;
        for (std::size_t i = 0; i != count; ++i) {
            expected[i] = Op::of(a_[i * a_step], b_[i * b_step]);
            has_faults = has_faults || has_fault(a_[i * a_step], b_[i * b_step]);
        }
        const auto same = [&](const char* name, auto&& compute) {
            std::vector<R> found(rows, R{7});
            ASSERT_EQ(compute(found.data()), has_faults) << name << ", rows " << count;
            for (std::size_t i = 0; i != rows; ++i) {
                const bool are_nan = found[i] != found[i] && expected[i] != expected[i];
                ASSERT_TRUE(are_nan || std::memcmp(&found[i], &expected[i], sizeof(R)) == 0)
                    << name << ", row " << i << " of " << count;
            }
        };
        same("all rows",
             [&](R* to) { return all_rows<Op, a_step, b_step>(a_.data(), b_.data(), to, count); });
        same("listed", [&](R* to) {
            return listed_rows<Op>(a_.data(), a_step, b_.data(), b_step, to, every_.data(), count);
        });
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx2") == 0) return;
        same("AVX2", [&](R* to) {
            return all_rows_wide<Op, a_step, b_step>(a_.data(), b_.data(), to, count);
        });
#endif
    }

    std::array<V, rows_max> a_{};
    std::array<V, rows_max> b_{};
    std::array<std::uint16_t, rows_max> every_{};
};

template <class Op>
class Kernel : public testing::Test {};
using Operations =
    testing::Types<AddInt, SubtractInt, MultiplyInt, DivideInt, RemainderInt, DecimalSum<AddInt>,
                   DecimalSum<SubtractInt>, MultiplyDecimal, AddDouble, SubtractDouble,
                   MultiplyDouble, DivideDouble, RemainderDouble, Equal<std::int64_t>,
                   Unequal<std::int64_t>, Less<std::int64_t>, LessOrEqual<std::int64_t>,
                   Equal<double>, Unequal<double>, Less<double>, LessOrEqual<double>,
                   Equal<std::uint8_t>, Less<std::uint8_t>>;
TYPED_TEST_SUITE(Kernel, Operations);

TYPED_TEST(Kernel, LoopsAgree) {
    Checked<TypeParam> checked(strid::test::first_seed());
    for (std::size_t count = 0; count != 70; ++count) checked.check(count);
    for (const std::size_t count : {127U, 2047U, 2048U}) checked.check(count);
}

}  // namespace
}  // namespace strid::table::detail
