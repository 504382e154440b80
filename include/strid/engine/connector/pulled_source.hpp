// SPDX-License-Identifier: Apache-2.0
//
// The common part of sources that are pulled (connector/pulled.hpp).
//
// Threads: a replica's function is used by one thread at a time; a stop comes from any.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/connector/pulled.hpp>
#include <strid/operator/source.hpp>

namespace strid {

namespace detail {

template <class F>
concept Pullable = std::invocable<F&, const Context&, const std::stop_token&> ||
                   std::invocable<F&, const std::stop_token&> ||
                   std::invocable<F&, const Context&> || std::invocable<F&>;

template <Pullable F>
decltype(auto) call_pulled(F& function, const Context& context, const std::stop_token& stop) {
    if constexpr (std::invocable<F&, const Context&, const std::stop_token&>) {
        return std::invoke(function, context, stop);
    } else if constexpr (std::invocable<F&, const std::stop_token&>) {
        return std::invoke(function, stop);
    } else if constexpr (std::invocable<F&, const Context&>) {
        return std::invoke(function, context);
    } else {
        return std::invoke(function);
    }
}
template <Pullable F>
using PulledResult = std::remove_cvref_t<decltype(call_pulled(
    std::declval<F&>(), std::declval<const Context&>(), std::declval<const std::stop_token&>()))>;

/// The state of a replica from its opening to the end. It does not move, so the coroutine may refer
/// to it.
template <class F>
struct Pulled {
    F function;
    Context context;
    std::stop_token stop;

    decltype(auto) operator()() { return call_pulled(function, context, stop); }
};

}  // namespace detail

/// The common part of sources that are pulled.
template <class F>
class PulledSource {
  public:
    static constexpr SourceTraits traits{.hears = events<Opened, Restored, Stopped>,
                                         .has = Has::blocks};

    PulledSource(F function, PulledOptions options)
        : function_(std::move(function)), options_(options) {}

    [[nodiscard]] bool blocks() const noexcept { return options_.blocks; }
    /// Any thread.
    void on(Stopped) noexcept {
        if (stop_) stop_->request_stop();
    }

  protected:
    /// As it was given, before any call.
    [[nodiscard]] F& function() noexcept { return function_; }
    /// Each replica has a state of its own, and so a token.
    detail::Pulled<F> pulled(const Context& context) {
        return {function_, context, stop_.emplace().get_token()};
    }

    /// How many records a poll may take: one from a function that may wait for the next.
    [[nodiscard]] std::size_t records_of_poll(std::size_t budget) const noexcept {
        return options_.blocks ? 1 : budget;
    }
    /// After a call: a function that may wait has waited until now.
    void stamp_arrival(auto& emit) const noexcept {
        if (options_.blocks) emit.ingress_at(now_ns());
    }
    /// Of a poll that emitted. `idle` sends the record off before a function that may wait is
    /// called again.
    [[nodiscard]] SourceStatus emitted() const noexcept {
        return options_.blocks ? SourceStatus::idle : SourceStatus::more;
    }

  private:
    F function_;
    PulledOptions options_;
    std::optional<std::stop_source> stop_;  // from the opening on
};

}  // namespace strid
