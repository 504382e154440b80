// SPDX-License-Identifier: Apache-2.0
//
// Late records by a way of their own. An operator says which records are late (emit.late); the
// chain counts them. Of an operator that is a LateApart it emits them as well: what leaves is a
// variant, of results and late records, until graph/alternatives.hpp parts them. So no operator
// exists twice.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/operator/contract.hpp>

namespace strid::operators {

/// The operator with its late records among its results. `Late` are the types of records that may
/// be late: side I of the operator's emit.late<I>(record).
template <class Operator, class... Late>
struct LateApart : Operator {
    static_assert(Operator::traits.finds_late);

    using Emitted = std::variant<typename Operator::Emitted, Late...>;
    static constexpr OperatorTraits traits = [] {
        OperatorTraits result = Operator::traits;
        result.emits = Emits::any_number;
        result.forgets_input = false;
        return result;
    }();

    LateApart(Operator one) : Operator(std::move(one)) {}  // NOLINT: implicit by intent

    /// What the chain makes of a result, and of a late record.
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
inline constexpr bool keeps_late<LateApart<Operator, Late...>> = true;

}  // namespace strid::operators
