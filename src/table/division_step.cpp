// SPDX-License-Identifier: Apache-2.0
//
// Integers divided by a constant, which takes a multiplication and a shift where the processor's
// division takes ten times as long (Granlund and Montgomery, "Division by Invariant Integers using
// Multiplication", 1994, theorem 4.2). Without faults: the constant is neither 0 nor -1.
#include <bit>
#include <cstdint>
#include <utility>

#include "steps.hpp"

namespace strid::table::detail {

namespace {

__extension__ using Wide = unsigned __int128;

/// Divides sizes up to 2^63. With l bits, so that 2^(l - 1) < d <= 2^l, and m = ceil(2^(63 + l) /
/// d), the quotient is n * m >> (63 + l): m * d - 2^(63 + l) is less than 2^l, or 0 for a power of
/// two.
class Divisor {
  public:
    explicit Divisor(std::int64_t divisor) noexcept
        : size_(size_of(divisor)),
          shift_(static_cast<unsigned>(63 + std::bit_width(size_ - 1))),
          factor_(static_cast<std::uint64_t>(((Wide{1} << shift_) + size_ - 1) / size_)),
          is_negative_(divisor < 0) {}

    [[nodiscard]] std::int64_t quotient(std::int64_t dividend) const noexcept {
        return with_sign(quotient_of_size(size_of(dividend)), (dividend < 0) != is_negative_);
    }
    [[nodiscard]] std::int64_t remainder(std::int64_t dividend) const noexcept {
        const std::uint64_t size = size_of(dividend);
        return with_sign(size - quotient_of_size(size) * size_, dividend < 0);
    }

  private:
    static std::uint64_t size_of(std::int64_t value) noexcept {
        const auto bits = static_cast<std::uint64_t>(value);
        return value < 0 ? std::uint64_t{0} - bits : bits;
    }
    static std::int64_t with_sign(std::uint64_t size, bool is_negative) noexcept {
        return static_cast<std::int64_t>(is_negative ? std::uint64_t{0} - size : size);
    }
    [[nodiscard]] std::uint64_t quotient_of_size(std::uint64_t size) const noexcept {
        return static_cast<std::uint64_t>(Wide{size} * factor_ >> shift_);
    }

    std::uint64_t size_;
    unsigned shift_;
    std::uint64_t factor_;
    bool is_negative_;
};

template <bool is_remainder>
class DivisionStep final : public Step {
  public:
    DivisionStep(StepPlace place, std::int64_t divisor, StepPointer part)
        : place_(std::move(place)), divisor_(divisor), part_(std::move(part)) {}

    Vector run(Frame& frame, const Selection& selection) const override {
        const Vector part = part_->run(frame, selection);
        Register& result = frame.registers[place_.result];
        const auto* const from = static_cast<const std::int64_t*>(part.values);
        auto* const to = static_cast<std::int64_t*>(result.values);
        const Divisor divisor = divisor_;
        selection.each([&](std::size_t row) {
            to[row] = is_remainder ? divisor.remainder(from[row]) : divisor.quotient(from[row]);
        });
        return {to, both_valid(part, {}, result.validity, frame.words)};
    }

  private:
    StepPlace place_;
    Divisor divisor_;
    StepPointer part_;
};

}  // namespace

StepPointer division_step(StepPlace place, Operation operation, std::int64_t divisor,
                          StepPointer part) {
    if (operation == Operation::remainder) {
        return std::make_unique<DivisionStep<true>>(std::move(place), divisor, std::move(part));
    }
    return std::make_unique<DivisionStep<false>>(std::move(place), divisor, std::move(part));
}

}  // namespace strid::table::detail
