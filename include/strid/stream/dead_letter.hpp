// SPDX-License-Identifier: Apache-2.0
//
// Sets records aside on which a function throws: `.map(dead_letter<Line>(parse, report), ...)`. The
// wrapped function is used like any other. When it throws, `report` gets the record and the text of
// the error, and the record is dropped and counted as skipped.
//
// Threads: the copies in all replicas share `report`, and one of them calls it at a time. A slow
// `report` delays the replica that calls. A push into an inlet of the same graph may deadlock.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/function_state.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

namespace operators {

/// A function that is not a class to derive from.
template <class F>
struct BoxedFunction {
    F function;
    template <class... Arguments>
        requires std::invocable<F&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) {
        return std::invoke(function, std::forward<Arguments>(arguments)...);
    }
};

/// Derived from the function, so that its hooks and members are found.
template <class F>
using AsBase = std::conditional_t<std::is_class_v<F> && !std::is_final_v<F>, F, BoxedFunction<F>>;

/// One call operator with known parameters: checking other arguments compiles nothing of it.
template <class F>
concept NamesItsParameters = !std::is_class_v<F> || requires { &F::operator(); };

template <class T, class F, class Report>
class WithDeadLetter : public AsBase<F> {
    using Base = AsBase<F>;

  public:
    static constexpr FunctionTraits traits = traits_of_function<F>;

    WithDeadLetter(F function, Report report)
        : Base{std::move(function)}, shared_(std::make_shared<Shared>(std::move(report))) {}

    template <class... Arguments>
        requires std::invocable<Base&, Arguments...>
    std::invoke_result_t<Base&, Arguments...> operator()(Arguments&&... arguments) {
        constexpr std::size_t at = position<Arguments...>();
        static_assert(at < sizeof...(Arguments),
                      "dead_letter<T>: T is the record that the operator gives its function");
        auto& record = std::get<at>(std::tie(arguments...));
        using Given = std::tuple_element_t<at, std::tuple<Arguments&&...>>;
        // The function may change its argument, so the original is kept.
        if constexpr (std::is_const_v<std::remove_reference_t<Given>>) {
            return guarded(record, std::forward<Arguments>(arguments)...);
        } else if constexpr (takes_constant<at, Arguments...>()) {
            return std::invoke(
                [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
                    return guarded(record, as_given<I == at, Arguments>(arguments)...);
                },
                std::index_sequence_for<Arguments...>{});
        } else {
            static_assert(std::copy_constructible<T>,
                          "dead_letter<T>: of a record that cannot be copied the function must "
                          "take a const T&");
            const T before = record;
            return guarded(before, std::forward<Arguments>(arguments)...);
        }
    }

    auto state() { return state_of_function(static_cast<Base&>(*this)); }

    /// The function that was wrapped, for an operator that calls it apart and then calls leave().
    [[nodiscard]] const F& wrapped() const noexcept {
        if constexpr (std::is_same_v<Base, F>) {
            return *this;
        } else {
            return this->function;
        }
    }
    /// For the exception being handled, which the function threw on this record: sets the record
    /// aside and throws SkipRecord, or rethrows what is not the function's.
    [[noreturn]] void leave(const T& record) {
        try {
            throw;
        } catch (const OperatorError&) {
            throw;  // of an operator behind this one
        } catch (const FanOutError&) {
            throw;
        } catch (const SkipRecord&) {
            throw;
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& error) {
            set_aside(record, error.what());
        } catch (...) {
            set_aside(record, "threw something that is not a std::exception");
        }
        throw SkipRecord{};
    }

  private:
    struct Shared {
        explicit Shared(Report function) : report(std::move(function)) {}
        std::mutex mutex;
        Report report;  // guarded
    };

    /// The record among the arguments: the last of its type.
    template <class... Arguments>
    static consteval std::size_t position() {
        std::size_t found = sizeof...(Arguments);
        std::size_t i = 0;
        ((found = std::same_as<std::remove_cvref_t<Arguments>, T> ? i : found, ++i), ...);
        return found;
    }
    template <bool is_record, class Argument>
    using Constant = std::conditional_t<is_record, const T&, Argument&&>;
    template <bool is_record, class Argument>
    static Constant<is_record, Argument> as_given(std::remove_reference_t<Argument>& argument) {
        return static_cast<Constant<is_record, Argument>>(argument);
    }
    template <std::size_t at, class... Arguments>
    static consteval bool takes_constant() {
        if constexpr (NamesItsParameters<F>) {
            return []<std::size_t... I>(std::index_sequence<I...>) {
                return std::invocable<Base&, Constant<I == at, Arguments>...>;
            }(std::index_sequence_for<Arguments...>{});
        }
        return false;
    }

    template <class... Arguments>
    decltype(auto) guarded(const T& record, Arguments&&... arguments) {
        try {
            return std::invoke(static_cast<Base&>(*this), std::forward<Arguments>(arguments)...);
        } catch (...) {
            leave(record);
        }
    }
    void set_aside(const T& record, std::string_view error) {
        const std::lock_guard lock{shared_->mutex};
        std::invoke(shared_->report, record, error);
    }

    std::shared_ptr<Shared> shared_;
};

}  // namespace operators

/// `function`, wrapped so that its exceptions end no run: `report` is called with the original
/// record and the text of the error, and the operator continues with the next record. `T` is the
/// type of the record (the last argument of this type). A change that the function made before it
/// threw (a state by key, its members) stays, and records that a flat_map emitted stay emitted.
/// `on_timer` is not covered. An exception of `report` ends the run.
///
/// A record that the function might change is copied before each call; with a `const T&` nothing is
/// copied.
template <class T, class F, std::invocable<const T&, std::string_view> Report>
    requires std::copy_constructible<F>
[[nodiscard]] auto dead_letter(F function, Report report) {
    return operators::WithDeadLetter<T, F, Report>{std::move(function), std::move(report)};
}

}  // namespace strid
