// SPDX-License-Identifier: Apache-2.0
//
// A rate as an expression of the counts of species: built by the readers of models as a tree whose
// constant parts are folded, compiled to a flat list of instructions, evaluated at every step.
//
// Plain values; a compiled rate may be evaluated by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strid::ssa {

enum class Operation : std::uint8_t {
    constant,
    species,
    call,  ///< a function of one number
    add,
    subtract,
    multiply,
    divide,
    power,
    minimum,
    maximum,
    less,
    less_or_equal,
    equal,
    unequal,
    both,
    either,
    select  ///< first operand unequal 0: the second, otherwise the third
};

using Function = double (*)(double);

/// A tree. Comparisons are 1 or 0.
struct Expression {
    Operation operation = Operation::constant;
    double value = 0;         ///< of a constant
    std::size_t species = 0;  ///< number of a species
    Function function = nullptr;
    std::vector<Expression> operands = {};

    [[nodiscard]] bool is_constant() const noexcept { return operation == Operation::constant; }
};

[[nodiscard]] Expression constant(double value);
[[nodiscard]] Expression count_of(std::size_t species);
/// Folds constants.
[[nodiscard]] Expression call(Function function, Expression operand);
[[nodiscard]] Expression combine(Operation operation, Expression left, Expression right);
[[nodiscard]] Expression select(Expression condition, Expression yes, Expression no);

/// A function of one number by its name (abs, ceil, cos, exp, floor, ln, log10, not, sin, sqrt,
/// tan, ...); null: there is none.
[[nodiscard]] Function function_named(std::string_view name);
/// Their names, for messages.
[[nodiscard]] std::vector<std::string> function_names();

/// How many numbers, names and operations it has.
[[nodiscard]] std::size_t size(const Expression& expression);

/// The numbers of the species that it reads, ascending, each once.
[[nodiscard]] std::vector<std::size_t> species_read(const Expression& expression);

class CompiledRate {
  public:
    /// Throws GraphError where it is nested deeper than `depth_max`.
    explicit CompiledRate(const Expression& expression);

    [[nodiscard]] double at(const double* counts) const noexcept;

    static constexpr std::size_t depth_max = 256;

  private:
    enum class Operand : std::uint8_t { stack, constant, species };
    struct Instruction {
        Operation operation;
        Operand operand;
        bool saves = false;  ///< a load that puts what was computed on the stack first
        std::uint32_t species = 0;
        double value = 0;
        Function function = nullptr;
    };

    void compile(const Expression& expression, bool saves, std::size_t depth);
    void append_leaf(Operation operation, const Expression& leaf, bool saves);

    std::vector<Instruction> instructions_;
};

}  // namespace strid::ssa
