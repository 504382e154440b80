// SPDX-License-Identifier: Apache-2.0
//
// The node that distributes the tasks of a farm if no node before it can: in a farm of farms (paper
// 4, section 1.2.1.2).
#pragma once

#include <utility>

#include <strid/operator/contract.hpp>

namespace strid::pattern::detail {

/// Hands each task on as it is.
template <class T>
class EmitterNode : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "emitter", .emits = Emits::one, .hears = events<>};

    [[gnu::always_inline]] void process(T& task, auto& emit) { emit(std::move(task)); }
};

}  // namespace strid::pattern::detail
