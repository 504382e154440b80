// SPDX-License-Identifier: Apache-2.0
//
// Late records as a stream. An operator reports late records (emit.late); the chain counts them. A
// WithLate of an operator emits them as well: its output is a variant of results and late records,
// which engine/plan/alternatives.hpp separates. No operator therefore needs a second version.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/operator/contract.hpp>

namespace strid::operators {

/// The operator with its late records among its results. `Late` are the types of its late records:
/// side I of the operator's emit.late<I>(record).
template <class Operator, class... Late>
struct WithLate : Operator {
    static_assert(Operator::traits.finds_late);

    using Emitted = std::variant<typename Operator::Emitted, Late...>;
    static constexpr OperatorTraits traits = [] {
        OperatorTraits result = Operator::traits;
        result.emits = Emits::any_number;
        result.forgets_input = false;
        return result;
    }();

    WithLate(Operator one) : Operator(std::move(one)) {}  // NOLINT: implicit by intent

    /// The variant of a result, and of a late record.
    template <class Record>
    [[nodiscard]] static Emitted result(Record&& record) {
        return Emitted{std::in_place_index<0>, std::forward<Record>(record)};
    }
    template <std::size_t side, class Record>
    [[nodiscard]] static Emitted late(const Record& record) {
        return Emitted{std::in_place_index<1 + side>, record};
    }
};

template <class Operator>
inline constexpr bool keeps_late = false;
template <class Operator, class... Late>
inline constexpr bool keeps_late<WithLate<Operator, Late...>> = true;

}  // namespace strid::operators
