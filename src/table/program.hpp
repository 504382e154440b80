// SPDX-License-Identifier: Apache-2.0
//
// A compiled expression: its steps, and how many registers and lists of rows they need. Never
// changed once it is made.
#pragma once

#include <cstddef>
#include <vector>

#include "steps.hpp"
#include "typed.hpp"

namespace strid::table::detail {

class Program {
  public:
    /// Throws ExpressionError.
    Program(const Expression& expression, const Schema& schema, OnFault on_fault);

    Type type;
    StepPointer root;
    std::size_t root_register = 0;  // none: where the root is a column or a constant
    bool has_register = false;      // of the root
    bool is_constant = false;
    std::size_t column = 0;  // where the root is one
    bool is_column = false;
    OnFault on_fault;

    /// A frame with the registers and lists that the steps need.
    [[nodiscard]] std::unique_ptr<Frame> frame() const;

  private:
    friend class Compiler;
    /// Registers and lists that it has not yet.
    void extend(Frame& frame) const;

    Expression expression_;               // whose nodes messages name
    std::vector<std::size_t> registers_;  // the bytes of a value of each
    std::size_t lists_ = 0;
};

}  // namespace strid::table::detail
