// SPDX-License-Identifier: Apache-2.0
//
// A pattern whose type names only the types of its tasks and results: for patterns that are
// composed at run time, and for patterns that are defined in another source file. It costs nothing
// per task, because it hides only how the pattern is built.
#pragma once

#include <functional>
#include <utility>

#include <strid/pattern/task_type.hpp>

namespace strid::pattern {

class Network;
template <class T>
struct Ends;

namespace detail {
template <class T, class Pattern>
auto build(Network& network, const Ends<T>& ends, const Pattern& pattern);
}

/// Tasks of `T` arrive, tasks of `U` leave; Nothing: none do. It is not the last of a loop.
template <class T, class U>
class AnyPattern {
  public:
    /// Any pattern that takes tasks of type T and makes results of type U.
    template <class Pattern>
    AnyPattern(Pattern pattern)  // NOLINT: implicit by intent
        : build_([pattern = std::move(pattern)](Network& network, const Ends<T>& ends) -> Ends<U> {
              return detail::build(network, ends, pattern);
          }) {}

    /// For the builder.
    [[nodiscard]] Ends<U> build(Network& network, const Ends<T>& ends) const {
        return build_(network, ends);
    }

  private:
    std::function<Ends<U>(Network&, const Ends<T>&)> build_;
};

}  // namespace strid::pattern
