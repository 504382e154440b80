// SPDX-License-Identifier: Apache-2.0
//
// Compiles an expression that was checked. Registers are given out as results are made, and taken
// back as soon as the step that reads them has its own, so that few of them are in use and stay in
// the nearest cache. A list of rows is its step's while the parts are computed, and then another's.
#include "program.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "value_text.hpp"

namespace strid::table::detail {

namespace {

/// Any row is needed to compute a constant.
const Chunk& one_row() {
    static const Chunk chunk = [] {
        Chunk one;
        one.set_rows(1);
        return one;
    }();
    return chunk;
}

/// A literal as a value of its type.
struct LiteralValue {
    explicit LiteralValue(const Literal& literal) {
        if (const auto* value = std::get_if<bool>(&literal)) byte = *value ? 1 : 0;
        if (const auto* value = std::get_if<std::int64_t>(&literal)) integer = *value;
        if (const auto* value = std::get_if<DecimalValue>(&literal)) integer = value->units;
        if (const auto* value = std::get_if<EventTime>(&literal)) integer = value->ns();
        if (const auto* value = std::get_if<Duration>(&literal)) integer = value->count();
        if (const auto* value = std::get_if<double>(&literal)) number = *value;
        if (const auto* value = std::get_if<std::string>(&literal)) text = *value;
    }
    [[nodiscard]] const void* of(Kind kind) const {
        switch (kind) {
            case Kind::boolean:
                return &byte;
            case Kind::float64:
                return &number;
            case Kind::text:
                return &text;
            default:
                return &integer;
        }
    }

    std::uint8_t byte = 0;
    std::int64_t integer = 0;
    double number = 0;
    std::string_view text;
};

constexpr Bits null_bits{};

}  // namespace

class Compiler {
  public:
    explicit Compiler(Program& program) : program_(program) {}

    struct Compiled {
        StepPointer step;
        std::optional<std::size_t> result;  // its register
        bool is_constant = false;           // one value, the same for each row
        bool may_fail = false;
    };

    Compiled compile(const Typed& typed) {
        Compiled compiled = compile_step(typed);
        if (compiled.is_constant || typed.parts.empty()) return compiled;
        return folded(std::move(compiled), typed);
    }
    /// The same, never as a constant of one value.
    Compiled compile_vector(const Typed& typed) {
        Compiled compiled = compile(typed);
        if (!compiled.is_constant) return compiled;
        Frame frame;
        const Vector value = compiled.step->run(frame, {});
        compiled.step = constant_step(typed.type, value, true);
        return compiled;
    }

  private:
    Compiled compile_step(const Typed& typed) {
        switch (typed.operation) {
            case Operation::column:
                return {column_step(typed.column), {}, false, false};
            case Operation::literal: {
                const LiteralValue literal(typed.value);
                const Vector value{literal.of(typed.type.kind),
                                   typed.is_null_literal ? null_bits.data() : nullptr};
                return {constant_step(typed.type, value, false), {}, true, false};
            }
            case Operation::both:
            case Operation::either:
                return compile_logic(typed);
            case Operation::negation:
            case Operation::is_null:
            case Operation::is_not_null:
            case Operation::cast:
                return compile_unary(typed);
            case Operation::case_when:
            case Operation::coalesce:
                return compile_choice(typed);
            case Operation::concat: {
                Compiled a = compile_vector(typed.parts[0]);
                Compiled b = compile_vector(typed.parts[1]);
                StepPlace place = place_of_step(typed);
                const std::size_t result = place.result;
                give_back(a);
                give_back(b);
                const bool may_fail = a.may_fail || b.may_fail;
                return {concat_step(std::move(place), std::move(a.step), std::move(b.step)), result,
                        false, may_fail};
            }
            default:
                return compile_binary(typed);
        }
    }

    Compiled compile_binary(const Typed& typed) {
        // There is no kernel for what is greater: the sides change places.
        Operation operation = typed.operation;
        const bool is_swapped =
            operation == Operation::greater || operation == Operation::greater_or_equal;
        if (operation == Operation::greater) operation = Operation::less;
        if (operation == Operation::greater_or_equal) operation = Operation::less_or_equal;
        Compiled a = compile(typed.parts[is_swapped ? 1 : 0]);
        Compiled b = compile(typed.parts[is_swapped ? 0 : 1]);
        // Of an interval and a number the kernel is that of integers.
        const Type type = typed.parts[0].type;
        if (const auto divisor = constant_divisor(operation, type, b)) {
            Compiled part = a.is_constant ? compile_vector(typed.parts[0]) : std::move(a);
            StepPlace place = place_of_step(typed);
            const std::size_t result = place.result;
            give_back(part);
            return {division_step(std::move(place), operation, *divisor, std::move(part.step)),
                    result, false, part.may_fail};
        }
        const bool may_fail = kernels_for(operation, type.kind).fault_of != nullptr;
        StepPlace place = place_of_step(typed);
        const std::size_t result = place.result;
        give_back(a);
        give_back(b);
        const bool parts_may_fail = a.may_fail || b.may_fail;
        return {binary_step(std::move(place), operation, type, std::move(a.step),
                            typed.parts[1].type, std::move(b.step)),
                result, false, may_fail || parts_may_fail};
    }

    static std::optional<std::int64_t> constant_divisor(Operation operation, Type type,
                                                        const Compiled& divisor) {
        const bool divides = operation == Operation::divide || operation == Operation::remainder;
        if (!divides || type.kind == Kind::float64 || !divisor.is_constant) return std::nullopt;
        Frame frame;
        const Vector value = divisor.step->run(frame, {});
        const std::int64_t integer = *static_cast<const std::int64_t*>(value.values);
        if (value.is_null(0) || integer == 0 || integer == -1) return std::nullopt;
        return integer;
    }

    Compiled compile_logic(const Typed& typed) {
        const std::size_t list = take_lists(1);
        Compiled a = compile_vector(typed.parts[0]);
        Compiled b = compile_vector(typed.parts[1]);
        give_lists_back(1);
        StepPlace place = place_of_step(typed);
        place.list = list;
        const std::size_t result = place.result;
        const bool is_lazy = b.may_fail;
        give_back(a);
        give_back(b);
        const bool may_fail = a.may_fail || b.may_fail;
        return {logic_step(std::move(place), typed.operation, is_lazy, std::move(a.step),
                           std::move(b.step)),
                result, false, may_fail};
    }

    Compiled compile_unary(const Typed& typed) {
        const Typed& part = typed.parts[0];
        Compiled a = compile_vector(part);
        StepPlace place = place_of_step(typed);
        const std::size_t result = place.result;
        give_back(a);
        Compiled compiled{nullptr, result, false, a.may_fail};
        if (typed.operation == Operation::negation) {
            compiled.step = negation_step(std::move(place), std::move(a.step));
        } else if (typed.operation == Operation::cast) {
            compiled.may_fail =
                a.may_fail || may_cast_fail(part.type, typed.type, typed.is_compared);
            compiled.step =
                cast_step(std::move(place), part.type, typed.is_compared, std::move(a.step));
        } else {
            compiled.step = null_test_step(std::move(place), typed.operation == Operation::is_null,
                                           std::move(a.step));
        }
        return compiled;
    }

    Compiled compile_choice(const Typed& typed) {
        StepPlace place = place_of_step(typed);
        place.list = take_lists(2);
        const std::size_t result = place.result;
        std::vector<StepPointer> parts;
        bool may_fail = false;
        for (const Typed& part : typed.parts) {
            Compiled one = compile_vector(part);
            give_back(one);
            may_fail = may_fail || one.may_fail;
            parts.push_back(std::move(one.step));
        }
        give_lists_back(2);
        auto step = typed.operation == Operation::case_when
                        ? case_step(std::move(place), std::move(parts))
                        : coalesce_step(std::move(place), std::move(parts));
        return {std::move(step), result, false, may_fail};
    }

    /// Of constants alone: their value, unless that is a fault, which a row may never come to.
    Compiled folded(Compiled compiled, const Typed& typed) {
        if (!is_constant(typed)) return compiled;
        if (!frame_) frame_ = program_.frame();
        program_.extend(*frame_);
        frame_->held.clear();
        frame_->chunk = &one_row();
        frame_->words = 1;
        try {
            const Vector value = compiled.step->run(*frame_, {nullptr, 1});
            auto step = constant_step(typed.type, value, false);
            give_back(compiled);
            return {std::move(step), {}, true, false};
        } catch (const EvaluationError&) {
            return compiled;
        }
    }
    static bool is_constant(const Typed& typed) {
        if (typed.operation == Operation::column) return false;
        for (const Typed& part : typed.parts) {
            if (!is_constant(part)) return false;
        }
        return true;
    }

    StepPlace place_of_step(const Typed& typed) {
        const std::size_t bytes = value_bytes(typed.type.kind);
        StepPlace place;
        place.type = typed.type;
        place.node = typed.node;
        for (std::size_t i = 0; i != free_.size(); ++i) {
            if (program_.registers_[free_[i]] != bytes) continue;
            place.result = free_[i];
            free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
            return place;
        }
        place.result = program_.registers_.size();
        program_.registers_.push_back(bytes);
        return place;
    }
    /// The first of so many lists one behind the other.
    std::size_t take_lists(std::size_t count) {
        const std::size_t first = lists_taken_;
        lists_taken_ += count;
        program_.lists_ = std::max(program_.lists_, lists_taken_);
        return first;
    }
    void give_lists_back(std::size_t count) { lists_taken_ -= count; }
    void give_back(const Compiled& compiled) {
        if (compiled.result) free_.push_back(*compiled.result);
    }

    Program& program_;
    std::vector<std::size_t> free_;  // registers that no step reads any more
    std::size_t lists_taken_ = 0;
    std::unique_ptr<Frame> frame_;  // for constants
};

Program::Program(const Expression& expression, const Schema& schema, OnFault policy)
    : on_fault(policy), expression_(expression) {
    const Typed typed = check(expression_, schema);
    type = typed.type;
    is_column = typed.operation == Operation::column;
    column = typed.column;
    Compiler::Compiled compiled = Compiler(*this).compile(typed);
    is_constant = compiled.is_constant;
    has_register = compiled.result.has_value();
    root_register = compiled.result.value_or(0);
    root = std::move(compiled.step);
}

std::unique_ptr<Frame> Program::frame() const {
    auto frame = std::make_unique<Frame>();
    frame->on_fault = on_fault;
    extend(*frame);
    return frame;
}

void Program::extend(Frame& frame) const {
    while (frame.registers.size() != registers_.size()) {
        frame.registers.emplace_back(registers_[frame.registers.size()]);
    }
    frame.lists.resize(lists_);
}

}  // namespace strid::table::detail
