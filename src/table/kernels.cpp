// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <cmath>
#include <limits>
#include <string_view>

#include "decimal.hpp"

namespace strid::table::detail {

namespace {

// An operation has the types Value of its sides and Result, `of(a, b)`, and where there are faults
// `sign(a, b, result)`, negative for one, and `fault(a, b)`.

template <class V, class R = V>
struct Plain {
    using Value = V;
    using Result = R;
    static constexpr bool has_faults = false;
    static constexpr bool is_scalar = false;  // no instruction computes several at once
};
template <class V>
struct Faulty {
    using Value = V;
    using Result = V;
    static constexpr bool has_faults = true;
    static constexpr bool is_scalar = false;
};

using Unsigned = std::uint64_t;
constexpr const char* beyond = "is beyond its type";
constexpr const char* by_zero = "divides by zero";

struct AddInt : Faulty<std::int64_t> {
    static std::int64_t of(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    }
    // Both sides have another sign than the sum.
    static std::int64_t sign(std::int64_t a, std::int64_t b, std::int64_t sum) {
        return (a ^ sum) & (b ^ sum);
    }
    static const char* fault(std::int64_t a, std::int64_t b) {
        return sign(a, b, of(a, b)) < 0 ? beyond : nullptr;
    }
};
struct SubtractInt : Faulty<std::int64_t> {
    static std::int64_t of(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
    }
    static std::int64_t sign(std::int64_t a, std::int64_t b, std::int64_t rest) {
        return (a ^ b) & (a ^ rest);
    }
    static const char* fault(std::int64_t a, std::int64_t b) {
        return sign(a, b, of(a, b)) < 0 ? beyond : nullptr;
    }
};
struct MultiplyInt : Faulty<std::int64_t> {
    static constexpr bool is_scalar = true;
    static std::int64_t of(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
    }
    static std::int64_t sign(std::int64_t a, std::int64_t b, std::int64_t /*product*/) {
        std::int64_t product = 0;
        return __builtin_mul_overflow(a, b, &product) ? -1 : 0;
    }
    static const char* fault(std::int64_t a, std::int64_t b) {
        return sign(a, b, 0) < 0 ? beyond : nullptr;
    }
};
/// -2^63 by -1 is beyond the type; of a remainder it is 0.
struct DivideInt : Faulty<std::int64_t> {
    static constexpr bool is_scalar = true;
    static std::int64_t of(std::int64_t a, std::int64_t b) {
        if (b == -1) return SubtractInt::of(0, a);
        return b == 0 ? 0 : a / b;
    }
    static std::int64_t sign(std::int64_t a, std::int64_t b, std::int64_t /*quotient*/) {
        const bool is_beyond = a == std::numeric_limits<std::int64_t>::min() && b == -1;
        return b == 0 || is_beyond ? -1 : 0;
    }
    static const char* fault(std::int64_t a, std::int64_t b) {
        if (b == 0) return by_zero;
        return sign(a, b, 0) < 0 ? beyond : nullptr;
    }
};
struct RemainderInt : Faulty<std::int64_t> {
    static constexpr bool is_scalar = true;
    static std::int64_t of(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
    static std::int64_t sign(std::int64_t /*a*/, std::int64_t b, std::int64_t /*rest*/) {
        return b == 0 ? -1 : 0;
    }
    static const char* fault(std::int64_t /*a*/, std::int64_t b) {
        return b == 0 ? by_zero : nullptr;
    }
};

/// Decimals of one scale: the sum of two fits an int64. Under NULL there may be any integer, so
/// the bounds are compared without overflow.
template <class OfInt>
struct DecimalSum : OfInt {
    static std::int64_t sign(std::int64_t /*a*/, std::int64_t /*b*/, std::int64_t result) {
        return SubtractInt::of(decimal_bound - 1, result) | AddInt::of(result, decimal_bound - 1);
    }
    static const char* fault(std::int64_t a, std::int64_t b) {
        return is_decimal(OfInt::of(a, b)) ? nullptr : beyond;
    }
};
struct MultiplyDecimal : MultiplyInt {
    static constexpr bool is_scalar = true;
    static std::int64_t sign(std::int64_t a, std::int64_t b, std::int64_t /*product*/) {
        std::int64_t product = 0;
        return __builtin_mul_overflow(a, b, &product) || !is_decimal(product) ? -1 : 0;
    }
    static const char* fault(std::int64_t a, std::int64_t b) {
        return sign(a, b, 0) < 0 ? beyond : nullptr;
    }
};

struct AddDouble : Plain<double> {
    static double of(double a, double b) { return a + b; }
};
struct SubtractDouble : Plain<double> {
    static double of(double a, double b) { return a - b; }
};
struct MultiplyDouble : Plain<double> {
    static double of(double a, double b) { return a * b; }
};
struct DivideDouble : Faulty<double> {
    static double of(double a, double b) { return a / b; }
    static std::int64_t sign(double /*a*/, double b, double /*quotient*/) {
        return b == 0 ? -1 : 0;
    }
    static const char* fault(double /*a*/, double b) { return b == 0 ? by_zero : nullptr; }
};
struct RemainderDouble : DivideDouble {
    static constexpr bool is_scalar = true;
    static double of(double a, double b) { return std::fmod(a, b); }
};

template <class V>
struct Equal : Plain<V, std::uint8_t> {
    static std::uint8_t of(const V& a, const V& b) { return a == b; }
};
template <class V>
struct Unequal : Plain<V, std::uint8_t> {
    static std::uint8_t of(const V& a, const V& b) { return a != b; }
};
template <class V>
struct Less : Plain<V, std::uint8_t> {
    static std::uint8_t of(const V& a, const V& b) { return a < b; }
};
template <class V>
struct LessOrEqual : Plain<V, std::uint8_t> {
    static std::uint8_t of(const V& a, const V& b) { return a <= b; }
};

template <class Op, std::size_t a_step, std::size_t b_step>
[[gnu::always_inline]] inline bool compute_all(const void* left, const void* right, void* to,
                                               std::size_t count) {
    using Value = typename Op::Value;
    const auto* const a = static_cast<const Value*>(left);
    const auto* const b = static_cast<const Value*>(right);
    auto* __restrict const results = static_cast<typename Op::Result*>(to);
    std::int64_t signs = 0;
    // A constant is read once: the compiler cannot see that `results` does not overwrite it.
    const Value first_a = a_step == 0 ? *a : Value{};
    const Value first_b = b_step == 0 ? *b : Value{};
    for (std::size_t i = 0; i != count; ++i) {
        const Value& x = a_step == 0 ? first_a : a[i];
        const Value& y = b_step == 0 ? first_b : b[i];
        const auto result = Op::of(x, y);
        if constexpr (Op::has_faults) signs |= Op::sign(x, y, result);
        results[i] = result;
    }
    return signs < 0;
}
template <class Op, std::size_t a_step, std::size_t b_step>
bool all_rows(const void* left, const void* right, void* to, std::size_t count) {
    return compute_all<Op, a_step, b_step>(left, right, to, count);
}
#ifdef __x86_64__
/// The same loop for processors with AVX2, which also compares integers of 64 bits at once.
template <class Op, std::size_t a_step, std::size_t b_step>
[[gnu::target("avx2")]] bool all_rows_wide(const void* left, const void* right, void* to,
                                           std::size_t count) {
    return compute_all<Op, a_step, b_step>(left, right, to, count);
}
#endif

template <class Op>
bool listed_rows(const void* left, std::size_t a_step, const void* right, std::size_t b_step,
                 void* to, const std::uint16_t* rows, std::size_t count) {
    using Value = typename Op::Value;
    const auto* const a = static_cast<const Value*>(left);
    const auto* const b = static_cast<const Value*>(right);
    auto* const results = static_cast<typename Op::Result*>(to);
    std::int64_t signs = 0;
    for (std::size_t i = 0; i != count; ++i) {
        const std::size_t row = rows[i];
        const Value& x = a[row * a_step];
        const Value& y = b[row * b_step];
        const auto result = Op::of(x, y);
        if constexpr (Op::has_faults) signs |= Op::sign(x, y, result);
        results[row] = result;
    }
    return signs < 0;
}

template <class Op>
Kernels kernels_of() noexcept {
    Kernels kernels{&all_rows<Op, 1, 1>, &all_rows<Op, 0, 1>, &all_rows<Op, 1, 0>,
                    &listed_rows<Op>};
#ifdef __x86_64__
    // Neither texts nor divisions of integers gain.
    constexpr bool has_wide = sizeof(typename Op::Value) <= 8 && !Op::is_scalar;
    if constexpr (has_wide) {
        static const bool is_wide = __builtin_cpu_supports("avx2") != 0;
        if (is_wide) {
            kernels.vectors = &all_rows_wide<Op, 1, 1>;
            kernels.constant_left = &all_rows_wide<Op, 0, 1>;
            kernels.constant_right = &all_rows_wide<Op, 1, 0>;
        }
    }
#endif
    kernels.value_bytes = sizeof(typename Op::Value);
    if constexpr (Op::has_faults) {
        kernels.fault_of = [](const void* a, const void* b) {
            return Op::fault(*static_cast<const typename Op::Value*>(a),
                             *static_cast<const typename Op::Value*>(b));
        };
    }
    return kernels;
}

Kernels of_int(Operation operation) noexcept {
    switch (operation) {
        case Operation::add:
            return kernels_of<AddInt>();
        case Operation::subtract:
            return kernels_of<SubtractInt>();
        case Operation::multiply:
            return kernels_of<MultiplyInt>();
        case Operation::divide:
            return kernels_of<DivideInt>();
        case Operation::remainder:
            return kernels_of<RemainderInt>();
        default:
            return {};
    }
}

Kernels of_decimal(Operation operation) noexcept {
    switch (operation) {
        case Operation::add:
            return kernels_of<DecimalSum<AddInt>>();
        case Operation::subtract:
            return kernels_of<DecimalSum<SubtractInt>>();
        case Operation::multiply:
            return kernels_of<MultiplyDecimal>();
        case Operation::remainder:
            return kernels_of<RemainderInt>();
        default:
            return {};
    }
}

Kernels of_double(Operation operation) noexcept {
    switch (operation) {
        case Operation::add:
            return kernels_of<AddDouble>();
        case Operation::subtract:
            return kernels_of<SubtractDouble>();
        case Operation::multiply:
            return kernels_of<MultiplyDouble>();
        case Operation::divide:
            return kernels_of<DivideDouble>();
        case Operation::remainder:
            return kernels_of<RemainderDouble>();
        default:
            return {};
    }
}

template <class V>
Kernels of_comparison(Operation operation) noexcept {
    switch (operation) {
        case Operation::equal:
            return kernels_of<Equal<V>>();
        case Operation::unequal:
            return kernels_of<Unequal<V>>();
        case Operation::less:
            return kernels_of<Less<V>>();
        case Operation::less_or_equal:
            return kernels_of<LessOrEqual<V>>();
        default:
            return {};
    }
}

}  // namespace

Kernels kernels_for(Operation operation, Kind kind) noexcept {
    switch (kind) {
        case Kind::boolean:
            return of_comparison<std::uint8_t>(operation);
        case Kind::text:
            return of_comparison<std::string_view>(operation);
        case Kind::float64: {
            const Kernels kernels = of_double(operation);
            return kernels.listed != nullptr ? kernels : of_comparison<double>(operation);
        }
        default: {
            const Kernels kernels =
                kind == Kind::decimal ? of_decimal(operation) : of_int(operation);
            return kernels.listed != nullptr ? kernels : of_comparison<std::int64_t>(operation);
        }
    }
}

}  // namespace strid::table::detail
