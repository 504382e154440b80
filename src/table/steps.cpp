// SPDX-License-Identifier: Apache-2.0
//
// Steps of arithmetic, comparison and logic.
#include "steps.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "typed.hpp"
#include "value_text.hpp"

namespace strid::table::detail {

const std::uint64_t* both_valid(const Vector& a, const Vector& b, Bits& bits,
                                std::size_t words) noexcept {
    if (a.validity == nullptr && b.validity == nullptr) return nullptr;
    if (a.validity == nullptr || b.validity == nullptr) {
        std::copy_n(a.validity == nullptr ? b.validity : a.validity, words, bits.begin());
        return bits.data();
    }
    for (std::size_t i = 0; i != words; ++i) bits[i] = a.validity[i] & b.validity[i];
    return bits.data();
}

void take_fault(Frame& frame, const StepPlace& place, std::size_t row, const std::string& reason,
                const std::uint64_t*& validity) {
    if (frame.on_fault == OnFault::stop) {
        throw EvaluationError(
            fmt::format("{}: {} (row {} of its chunk)", shown(*place.node), reason, row + 1));
    }
    Bits& bits = frame.registers[place.result].validity;
    if (validity == nullptr) bits.fill(~std::uint64_t{0});
    validity = bits.data();
    bits[row / 64] &= ~(std::uint64_t{1} << (row % 64));
}

namespace {

constexpr Bits no_bits{};

class ColumnStep final : public Step {
  public:
    explicit ColumnStep(std::size_t column) : column_(column) {}
    Vector run(Frame& frame, const Selection& /*selection*/) const override {
        const Column& column = frame.chunk->column(column_);
        return {column.values<void>(), column.has_nulls() ? column.validity() : nullptr};
    }

  private:
    std::size_t column_;
};

class ConstantStep final : public Step {
  public:
    ConstantStep(Type type, const Vector& value, bool as_vector)
        : values_(as_vector ? value_bytes(type.kind) : 1),
          is_null_(value.is_null(0)),
          is_constant_(!as_vector) {
        const std::size_t bytes = value_bytes(type.kind);
        char* const to = static_cast<char*>(values_.values);
        if (is_null_) return;
        std::memcpy(to, value.values, bytes);
        if (type.kind == Kind::text) {
            std::string_view text;
            std::memcpy(&text, value.values, bytes);
            text_ = memory::TextPool(std::max<std::size_t>(text.size(), 1), 1).try_lease();
            text.copy(text_->bytes().data(), text.size());
            text = {text_->bytes().data(), text.size()};
            std::memcpy(to, &text, bytes);
        }
        if (!as_vector) return;
        for (std::size_t row = 1; row != chunk_rows_max; ++row) {
            std::memcpy(to + row * bytes, to, bytes);
        }
    }
    Vector run(Frame& frame, const Selection& /*selection*/) const override {
        if (text_) frame.hold(text_);
        return {values_.values, is_null_ ? no_bits.data() : nullptr, is_constant_};
    }

  private:
    Register values_;
    memory::TextReference text_;  // a value may be handed out
    bool is_null_;
    bool is_constant_;
};

/// All rows of a chunk, for kernels that take a list.
constexpr RowList every_row = [] {
    RowList rows{};
    std::iota(rows.begin(), rows.end(), std::uint16_t{0});
    return rows;
}();

class BinaryStep final : public Step {
  public:
    BinaryStep(StepPlace place, Operation operation, Type a_type, StepPointer a, Type b_type,
               StepPointer b)
        : place_(std::move(place)),
          operation_(operation),
          a_type_(a_type),
          b_type_(b_type),
          kernels_(kernels_for(operation, a_type.kind)),
          a_(std::move(a)),
          b_(std::move(b)) {}

    Vector run(Frame& frame, const Selection& selection) const override {
        const Vector a = a_->run(frame, selection);
        const Vector b = b_->run(frame, selection);
        Register& result = frame.registers[place_.result];
        const std::uint64_t* validity = both_valid(a, b, result.validity, frame.words);
        const bool has_faults = compute(a, b, result.values, selection);
        if (has_faults && kernels_.fault_of != nullptr) {
            find_faults(frame, selection, a, b, validity);
        }
        return {result.values, validity};
    }

  private:
    bool compute(const Vector& a, const Vector& b, void* to, const Selection& selection) const {
        if (selection.rows == nullptr && !(a.is_constant && b.is_constant)) {
            const auto kernel = a.is_constant   ? kernels_.constant_left
                                : b.is_constant ? kernels_.constant_right
                                                : kernels_.vectors;
            return kernel(a.values, b.values, to, selection.count);
        }
        return kernels_.listed(a.values, a.is_constant ? 0 : 1, b.values, b.is_constant ? 0 : 1, to,
                               selection.rows == nullptr ? every_row.data() : selection.rows,
                               selection.count);
    }

    void find_faults(Frame& frame, const Selection& selection, const Vector& a, const Vector& b,
                     const std::uint64_t*& validity) const {
        const auto at = [this](const Vector& side, std::size_t row) {
            return static_cast<const char*>(side.values) +
                   (side.is_constant ? 0 : row * kernels_.value_bytes);
        };
        selection.each([&](std::size_t row) {
            if (validity != nullptr && !is_set(validity, row)) return;
            const char* const fault = kernels_.fault_of(at(a, row), at(b, row));
            if (fault == nullptr) return;
            std::string reason;
            append_value(reason, a_type_, at(a, row), 0);
            reason += fmt::format(" {} ", sign_of(operation_));
            append_value(reason, b_type_, at(b, row), 0);
            take_fault(frame, place_, row, reason + ' ' + fault, validity);
        });
    }

    StepPlace place_;
    Operation operation_;
    Type a_type_;
    Type b_type_;
    Kernels kernels_;
    StepPointer a_;
    StepPointer b_;
};

/// A side that decides the result alone: false of `and`, true of `or`.
class LogicStep final : public Step {
  public:
    LogicStep(StepPlace place, bool is_and, bool is_lazy, StepPointer a, StepPointer b)
        : place_(std::move(place)),
          is_and_(is_and),
          is_lazy_(is_lazy),
          a_(std::move(a)),
          b_(std::move(b)) {}

    Vector run(Frame& frame, const Selection& selection) const override {
        const Vector a = a_->run(frame, selection);
        if (is_lazy_) return run_lazily(frame, selection, a);
        const Vector b = b_->run(frame, selection);
        Register& result = frame.registers[place_.result];
        auto* const to = static_cast<std::uint8_t*>(result.values);
        const auto* const left = static_cast<const std::uint8_t*>(a.values);
        const auto* const right = static_cast<const std::uint8_t*>(b.values);
        // Rows that are not selected are computed too: that is faster than to pass them over.
        const std::size_t rows = frame.words * 64;
        if (is_and_) {
            for (std::size_t i = 0; i != rows; ++i) to[i] = left[i] & right[i];
        } else {
            for (std::size_t i = 0; i != rows; ++i) to[i] = left[i] | right[i];
        }
        if (a.validity == nullptr && b.validity == nullptr) return {to};
        find_nulls(a, b, frame.words, result.validity);
        return {to, result.validity.data()};
    }

  private:
    /// A result is known where both sides are, or one decides.
    void find_nulls(const Vector& a, const Vector& b, std::size_t words, Bits& known) const {
        const auto decides = [this, words](const Vector& side, Bits& bits) {
            bits_of_bytes(static_cast<const std::uint8_t*>(side.values), words * 64, bits.data());
            for (std::size_t i = 0; i != words; ++i) {
                bits[i] = (is_and_ ? ~bits[i] : bits[i]) & word(side, i);
            }
        };
        Bits by_a;
        Bits by_b;
        decides(a, by_a);
        decides(b, by_b);
        for (std::size_t i = 0; i != words; ++i) {
            known[i] = (word(a, i) & word(b, i)) | by_a[i] | by_b[i];
        }
    }
    static std::uint64_t word(const Vector& side, std::size_t i) {
        return side.validity == nullptr ? ~std::uint64_t{0} : side.validity[i];
    }

    Vector run_lazily(Frame& frame, const Selection& selection, const Vector& a) const {
        const auto* const left = static_cast<const std::uint8_t*>(a.values);
        const std::uint8_t decisive = is_and_ ? 0 : 1;
        const Selection open = listed(selection, frame.lists[place_.list], [&](std::size_t row) {
            return left[row] != decisive || a.is_null(row);
        });
        Register& result = frame.registers[place_.result];
        auto* const to = static_cast<std::uint8_t*>(result.values);
        if (open.count == 0) {
            selection.each([&](std::size_t row) { to[row] = decisive; });
            return {to};
        }
        const Vector b = b_->run(frame, open);
        const auto* const right = static_cast<const std::uint8_t*>(b.values);
        selection.each([&](std::size_t row) { to[row] = decisive; });
        result.validity.fill(~std::uint64_t{0});
        open.each([&](std::size_t row) {
            to[row] = right[row];
            // The left side is not decisive: it is NULL, or the right side is the result.
            const bool is_null = b.is_null(row) || (a.is_null(row) && right[row] != decisive);
            result.validity[row / 64] &= ~(std::uint64_t{is_null} << (row % 64));
        });
        return {to, result.validity.data()};
    }

    StepPlace place_;
    bool is_and_;
    bool is_lazy_;
    StepPointer a_;
    StepPointer b_;
};

class NegationStep final : public Step {
  public:
    NegationStep(StepPlace place, StepPointer part)
        : place_(std::move(place)), part_(std::move(part)) {}
    Vector run(Frame& frame, const Selection& selection) const override {
        const Vector part = part_->run(frame, selection);
        Register& result = frame.registers[place_.result];
        auto* const to = static_cast<std::uint8_t*>(result.values);
        const auto* const from = static_cast<const std::uint8_t*>(part.values);
        for (std::size_t i = 0; i != frame.words * 64; ++i) to[i] = from[i] ^ 1U;
        return {to, both_valid(part, {}, result.validity, frame.words)};
    }

  private:
    StepPlace place_;
    StepPointer part_;
};

class NullTestStep final : public Step {
  public:
    NullTestStep(StepPlace place, bool is_null, StepPointer part)
        : place_(std::move(place)), is_null_(is_null), part_(std::move(part)) {}
    Vector run(Frame& frame, const Selection& selection) const override {
        const Vector part = part_->run(frame, selection);
        auto* const to = static_cast<std::uint8_t*>(frame.registers[place_.result].values);
        selection.each([&](std::size_t row) { to[row] = part.is_null(row) == is_null_ ? 1 : 0; });
        return {to};
    }

  private:
    StepPlace place_;
    bool is_null_;
    StepPointer part_;
};

}  // namespace

StepPointer column_step(std::size_t column) {
    return std::make_unique<ColumnStep>(column);
}
StepPointer constant_step(Type type, const Vector& value, bool as_vector) {
    return std::make_unique<ConstantStep>(type, value, as_vector);
}
StepPointer binary_step(StepPlace place, Operation operation, Type a_type, StepPointer a,
                        Type b_type, StepPointer b) {
    return std::make_unique<BinaryStep>(std::move(place), operation, a_type, std::move(a), b_type,
                                        std::move(b));
}
StepPointer logic_step(StepPlace place, Operation operation, bool is_lazy, StepPointer a,
                       StepPointer b) {
    return std::make_unique<LogicStep>(std::move(place), operation == Operation::both, is_lazy,
                                       std::move(a), std::move(b));
}
StepPointer negation_step(StepPlace place, StepPointer part) {
    return std::make_unique<NegationStep>(std::move(place), std::move(part));
}
StepPointer null_test_step(StepPlace place, bool is_null, StepPointer part) {
    return std::make_unique<NullTestStep>(std::move(place), is_null, std::move(part));
}

}  // namespace strid::table::detail
