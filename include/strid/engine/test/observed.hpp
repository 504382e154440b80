// SPDX-License-Identifier: Apache-2.0
//
// The two ends of a tested operator (test/harness.hpp): the operator with its late records among
// its results, and the sink behind it, which keeps all that comes and refuses more on request.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <strid/base/watermark.hpp>
#include <strid/engine/operator/late_apart.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/stream_time.hpp>

namespace strid::test::detail {

/// One element of a state. A function with captures cannot be assigned.
template <class State>
void move_state(State& into, State& from) {
    if constexpr (std::is_move_assignable_v<State>) {
        into = std::move(from);
    } else {
        std::destroy_at(&into);
        std::construct_at(&into, std::move(from));
    }
}

/// The operator; its late records are emitted too, as they arrived.
template <class Operator>
struct LateObserved : Operator {
    using Record = typename operators::Unhashed<typename Operator::Arrived>::type;
    using Emitted = std::variant<typename Operator::Emitted, Record>;
    static constexpr OperatorTraits traits = [] {
        OperatorTraits traits_of_results = Operator::traits;
        traits_of_results.emits = Emits::any_number;
        return traits_of_results;
    }();

    LateObserved(Operator one) : Operator(std::move(one)) {}  // NOLINT: implicit by intent

    template <class Result>
    [[nodiscard]] static Emitted result(Result&& record) {
        return Emitted{std::in_place_index<0>, std::forward<Result>(record)};
    }
    /// A late record of a join is the alternative number `side`.
    template <std::size_t side, class Late>
    [[nodiscard]] static Emitted late(const Late& record) {
        if constexpr (std::is_same_v<Late, Record>) {
            return Emitted{std::in_place_index<1>, record};
        } else {
            return Emitted{std::in_place_index<1>, Record{std::in_place_index<side>, record}};
        }
    }
};

/// How the operator is driven: late records can be kept where there are results as well.
template <class Operator>
using Observed =
    std::conditional_t<Operator::traits.finds_late && Operator::traits.emits != Emits::nothing,
                       LateObserved<Operator>, Operator>;

/// Everything that came out.
template <class Emitted, class Late>
struct Results {
    std::vector<Emitted> emitted;
    std::vector<Late> late;
    Progress progress;  ///< Of the stream behind the operator.
    std::size_t room = std::numeric_limits<std::size_t>::max();
};

/// The sink behind an operator.
template <class Arrived, class Emitted, class Late>
class Take : public OperatorTypes<Arrived, void> {
  public:
    static constexpr OperatorTraits traits{.kind = "take",
                                           .emits = Emits::nothing,
                                           .hears = events<Watermark>,
                                           .has = Has::accepts,
                                           .stateless = true};

    explicit Take(Results<Emitted, Late>& results) noexcept : results_(&results) {}

    void process(Arrived& record, auto& /*emit*/) {
        if constexpr (std::is_same_v<Arrived, Emitted>) {
            take(std::move(record));
        } else if (record.index() == 0) {
            take(std::get<0>(std::move(record)));
        } else {
            results_->late.push_back(std::get<1>(std::move(record)));
        }
    }
    void on(Watermark watermark, auto& /*emit*/) {
        results_->progress = {watermark.time, watermark.idle};
    }
    [[nodiscard]] bool accepts() const noexcept { return results_->room != 0; }

  private:
    void take(Emitted record) {
        results_->emitted.push_back(std::move(record));
        if (results_->room != 0 && results_->room != unbounded) --results_->room;
    }

    static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
    Results<Emitted, Late>* results_;
};

}  // namespace strid::test::detail

namespace strid::operators {
template <class Operator>
inline constexpr bool keeps_late<test::detail::LateObserved<Operator>> = true;
}  // namespace strid::operators
