// SPDX-License-Identifier: Apache-2.0
//
// A source that makes its records: seeded, the same at any parallelism, at full speed or at an
// open-loop rate. Of n replicas, replica i makes the records i, i + n, i + 2n, ... Each replica is
// used by one thread at a time; fraction_done() by any.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/connector/pace.hpp>
#include <strid/connector/random.hpp>
#include <strid/operator/source.hpp>

namespace strid {

/// How many records are made, and how fast.
struct GenerateOptions {
    std::uint64_t count = 0;               ///< records of all replicas together; 0: no end
    double rate_per_second = 0;            ///< of all replicas together; 0: full speed
    std::uint64_t seed = 1;                ///< Of the random numbers that the function is given.
    std::chrono::nanoseconds duration{0};  ///< from the first poll; 0: no limit
};

/// `function(random, index)` makes record `index`; it must depend on nothing else.
template <class T, class Function>
    requires std::convertible_to<std::invoke_result_t<Function&, Random&, std::uint64_t>, T>
class Generate {
  public:
    using record_type = T;
    /// What the engine calls.
    static constexpr SourceTraits traits{.hears = events<Opened>,
                                         .has = Has::wake_at_ns | Has::fraction_done};

    /// `function(random, index)` makes record `index`.
    Generate(Function function, GenerateOptions options)
        : function_(std::move(function)), options_(options), pace_(options.rate_per_second) {}

    void on(const Opened& opened) noexcept {
        context_ = opened.context;
        made_ = 0;
        started_ = false;
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        const bool timed = pace_.limited() || options_.duration.count() > 0;
        const std::int64_t now = timed ? now_ns() : 0;
        if (!std::exchange(started_, true)) {
            start_ns_ = now;
            pace_.start(now, context_.replica, context_.parallelism);
        }
        const bool expired =
            options_.duration.count() > 0 && now - start_ns_ >= options_.duration.count();
        if (expired) return finish();
        for (; budget > 0; --budget) {
            const std::uint64_t index = made_ * context_.parallelism + context_.replica;
            if (options_.count > 0 && index >= options_.count) return finish();
            if (pace_.limited()) {
                const std::int64_t due_ns = pace_.due_ns(made_);
                if (due_ns > now) {
                    wake_at_ns_ = due_ns;
                    return with_progress(SourceStatus::idle, now);
                }
                emit.ingress_at(due_ns);
            }
            ++made_;
            Random random(options_.seed, index);
            if (!emit(T(function_(random, index)))) break;
        }
        return with_progress(SourceStatus::more, now);
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    /// -1: it has no end.
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }
    auto state() { return std::tie(made_); }

  private:
    SourceStatus finish() noexcept {
        fraction_done_.store(1);
        return SourceStatus::finished;
    }

    SourceStatus with_progress(SourceStatus status, std::int64_t now) noexcept {
        double fraction = -1;  // unknown
        if (options_.count > 0) {
            fraction = static_cast<double>(made_ * context_.parallelism) /
                       static_cast<double>(options_.count);
        }
        if (options_.duration.count() > 0) {
            fraction = std::max(fraction, static_cast<double>(now - start_ns_) /
                                              static_cast<double>(options_.duration.count()));
        }
        fraction_done_.store(std::min(fraction, 1.0));
        return status;
    }

    Function function_;
    GenerateOptions options_;
    Pace pace_;
    Context context_{};
    std::uint64_t made_ = 0;  // by this replica
    std::int64_t start_ns_ = 0;
    std::int64_t wake_at_ns_ = 0;
    bool started_ = false;
    SharedFraction fraction_done_;
};

/// Records made by `function(Random&, std::uint64_t index)`; `generate<T>(...)` names their type
/// where it is not what the function returns. Throws GraphError for an impossible rate.
template <class T = void, class Function>
[[nodiscard]] auto generate(Function function, GenerateOptions options = {}) {
    using Made = std::remove_cvref_t<std::invoke_result_t<Function&, Random&, std::uint64_t>>;
    using Record = std::conditional_t<std::is_void_v<T>, Made, T>;
    return Generate<Record, Function>(std::move(function), options);
}

}  // namespace strid
