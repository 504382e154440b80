// SPDX-License-Identifier: Apache-2.0
//
// A source that calls a function for each record, until it returns none:
//
//     graph.source(from_callback([reader]() -> std::optional<Reading> { return reader->next(); }))
//
// Each replica calls a copy of the function (connector/pulled.hpp), as often as there is room for
// records. For a source that has no record for a while without being at its end, use a coroutine
// (connector/generator.hpp). An exception ends the run as an OperatorError that names the source.
//
// The function keeps the contract of functions (operator/contract.hpp): one whose call changes it
// names its state, unless it is made of plain values. It may have on(const Opened&) and
// on(Restored).
//
// Threads: a replica's function is called by one thread at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/connector/pulled.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/connector/pulled_source.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/function_state.hpp>
#include <strid/operator/source.hpp>

namespace strid {

namespace detail {

template <class Result>
inline constexpr bool is_optional_record = false;
template <class T>
inline constexpr bool is_optional_record<std::optional<T>> = true;

/// Its call changes it.
template <class F>
inline constexpr bool changes_when_pulled = !Pullable<const F>;
/// The place from which it goes on is known.
template <class F>
inline constexpr bool has_known_place =
    operators::detail::HasState<F> || operators::traits_of_function<F>.stateless ||
    (changes_when_pulled<F> && operators::is_own_state<F>);

/// The contract of functions, with the hooks and members that a source passes on.
template <class F>
consteval bool keeps_contract_of_callbacks() {
    constexpr FunctionTraits traits = operators::traits_of_function<F>;
    constexpr std::uint32_t passed_on = events<Opened, Restored>.bits;
    constexpr bool right = (traits.hears.bits & ~passed_on) == 0 && traits.has == Has::none;
    static_assert(right,
                  "a function that is pulled has on(const Opened&) and on(Restored) at most, and "
                  "no members in .has: write a source with poll(auto& emit, std::size_t budget)");
    if constexpr (!right) {
        return false;
    } else if constexpr (std::invocable<F&, const Context&, const std::stop_token&>) {
        return operators::keeps_contract<F, const Context&, const std::stop_token&>();
    } else if constexpr (std::invocable<F&, const std::stop_token&>) {
        return operators::keeps_contract<F, const std::stop_token&>();
    } else if constexpr (std::invocable<F&, const Context&>) {
        return operators::keeps_contract<F, const Context&>();
    } else {
        return operators::keeps_contract<F>();
    }
}

template <class F>
consteval bool returns_records() {
    if constexpr (!std::copy_constructible<F>) {
        return operators::can_be_copied<F>();
    } else if constexpr (!Pullable<F>) {
        static_assert(Pullable<F>,
                      "from_callback needs a function that takes nothing, a const Context&, a "
                      "std::stop_token, or both in this order, and returns a std::optional<T>");
        return false;
    } else if constexpr (!is_optional_record<PulledResult<F>>) {
        static_assert(is_optional_record<PulledResult<F>>,
                      "from_callback needs a function that returns the next record, and an empty "
                      "std::optional behind the last: std::optional<T> f()");
        return false;
    } else {
        using T = typename PulledResult<F>::value_type;
        static_assert(!points_to_text<T>,
                      "the text fields of a record that a callback returns would outlive their "
                      "text: return records that own it (std::string, std::array<char, N>)");
        return !points_to_text<T> && keeps_contract_of_callbacks<F>();
    }
}

/// The records that a function returns.
template <class F>
class CallbackSource : public PulledSource<F> {
  public:
    using record_type = typename PulledResult<F>::value_type;
    static constexpr SourceTraits traits = [] {
        SourceTraits of_pulled = PulledSource<F>::traits;
        of_pulled.no_snapshots = !has_known_place<F>;
        return of_pulled;
    }();
    using PulledSource<F>::PulledSource;

    using PulledSource<F>::on;
    void on(const Opened& opened) {
        next_.emplace(this->pulled(opened.context));
        operators::notify_function(next_->function, opened);
    }
    /// Throws Error for a function whose place is not known (connector/pulled.hpp).
    void on([[maybe_unused]] Restored restored) {
        if constexpr (!has_known_place<F>) {
            throw Error(
                "a source of from_callback cannot go on where another was: its function does not "
                "name the place that it has reached; give it state(), or the trait .stateless "
                "where the next call returns the next record in any case");
        } else {
            operators::notify_function(next_->function, restored);
        }
    }
    auto state() {
        F& function = next_ ? next_->function : this->function();
        if constexpr (has_known_place<F>) {
            return operators::state_of_function(function);
        } else {
            (void)function;
            return std::tie();
        }
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (std::size_t left = this->records_of_poll(budget); left != 0; --left) {
            std::optional<record_type> record = (*next_)();
            this->stamp_arrival(emit);
            if (!record) return SourceStatus::finished;
            if (!emit(std::move(*record))) break;
        }
        return this->emitted();
    }

  private:
    std::optional<Pulled<F>> next_;
};

}  // namespace detail

/// A source of the records that `function` returns, until it returns none.
template <class F>
[[nodiscard]] auto from_callback(F function, PulledOptions options = {}) {
    if constexpr (detail::returns_records<F>()) {
        return detail::CallbackSource<F>(std::move(function), options);
    }
}

}  // namespace strid
