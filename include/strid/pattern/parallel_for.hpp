// SPDX-License-Identifier: Apache-2.0
//
// Loops whose iterations may run at once (paper 4, section 1.1: data parallelism by patterns):
//
//     Team team;
//     parallel_for(team, 0, size, [&](std::size_t i) { out[i] = f(in[i]); });
//     parallel_map(team, in, out, f);
//     const double sum = parallel_reduce(team, 0, size, 0.0, term, std::plus<>{});
//
// The range is handed out in parts that get smaller towards the end, so that threads finish
// together though iterations take different times. An iteration that throws ends the loop after the
// iterations that have begun, and the caller gets the first exception. A loop in an iteration of
// another is shared in the same way (pattern/team.hpp).
//
// Threads: any may begin a loop; its iterations run on any of the team.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include <strid/engine/base/cache_line.hpp>
#include <strid/pattern/team.hpp>

namespace strid::pattern {

/// How the iterations of a loop are divided.
struct RangeOptions {
    /// Iterations that a thread takes at once, at least; 0: by the size of the loop.
    std::size_t iterations_min = 0;
};

namespace detail {

/// A range that threads take parts of. `work(begin, end)` does a part.
template <class Work>
class RangeJob final : public Job {
  public:
    RangeJob(std::size_t begin, std::size_t end, std::size_t least, std::size_t threads, Work& work)
        : next_(begin), end_(end), least_(least), shares_(2 * threads), work_(work) {}

    bool take_part() noexcept override {
        bool any = false;
        while (true) {
            std::size_t begin = next_.load(std::memory_order_relaxed);
            std::size_t end = begin;
            do {
                if (begin >= end_) return any;
                end = begin + std::min(end_ - begin, std::max(least_, (end_ - begin) / shares_));
                // Relaxed: a thread that takes part has acquired the job, and leaves it by a
                // release.
            } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
            any = true;
            try {
                work_(begin, end);
            } catch (...) {
                keep(std::current_exception());
            }
        }
    }
    /// After the run.
    void rethrow_failure() {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void keep(std::exception_ptr failure) noexcept {
        next_.store(end_, std::memory_order_relaxed);
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::move(failure);
    }

    alignas(cache_line_bytes) std::atomic<std::size_t> next_;
    alignas(cache_line_bytes) std::size_t end_;
    std::size_t least_;
    std::size_t shares_;
    Work& work_;
    std::mutex mutex_;
    std::exception_ptr failure_;  // guarded
};

/// Calls `work(begin, end)` for parts that make up the range.
template <class Work>
void share_range(Team& team, std::size_t begin, std::size_t end, std::size_t least, Work&& work) {
    if (begin >= end) return;
    RangeJob job(begin, end, std::max<std::size_t>(least, 1), team.threads(), work);
    team.run(job);
    job.rethrow_failure();
}

/// The smallest part for a thread, so that the last parts end within 3 % of a thread's share.
[[nodiscard]] inline std::size_t least_part(std::size_t iterations, std::size_t threads,
                                            const RangeOptions& options) {
    if (options.iterations_min != 0) return options.iterations_min;
    return std::max<std::size_t>(iterations / (32 * threads), 1);
}

}  // namespace detail

/// `body(i)` for each `i` of [begin, end), in any order. Throws what an iteration throws.
template <std::invocable<std::size_t> Body>
void parallel_for(Team& team, std::size_t begin, std::size_t end, Body&& body,
                  const RangeOptions& options = {}) {
    const std::size_t least =
        detail::least_part(end - std::min(begin, end), team.threads(), options);
    detail::share_range(team, begin, end, least, [&body](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) body(i);
    });
}

/// `out[i] = f(in[i])` for each element; `out` has room for as many.
template <std::random_access_iterator In, std::random_access_iterator Out, class F>
void parallel_map(Team& team, In begin, In end, Out out, F&& f, const RangeOptions& options = {}) {
    parallel_for(
        team, 0, static_cast<std::size_t>(end - begin),
        [&](std::size_t i) {
            const auto at = static_cast<std::iter_difference_t<In>>(i);
            out[at] = f(begin[at]);
        },
        options);
}

/// The terms `term(i)` of [begin, end) combined with `initial`: in the order of `i`, in groups that
/// depend on the size of the range only. So the result is the same in each run and with any number
/// of threads, also where `combine` rounds; `combine` is associative but for that, and combines a
/// value and a term, and two values.
template <class Value, class Term, class Combine>
[[nodiscard]] Value parallel_reduce(Team& team, std::size_t begin, std::size_t end, Value initial,
                                    Term&& term, Combine&& combine) {
    if (begin >= end) return initial;
    constexpr std::size_t groups_max = 256;
    struct alignas(cache_line_bytes) Group {
        Value value;
    };
    const std::size_t iterations = end - begin;
    const std::size_t groups = std::min(iterations, groups_max);
    const auto first_of = [&](std::size_t group) {
        return begin + iterations / groups * group + std::min(iterations % groups, group);
    };
    std::vector<Group> values(groups, Group{initial});
    detail::share_range(team, 0, groups, 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t group = first; group < last; ++group) {
            std::size_t i = first_of(group);
            Value value = term(i);
            for (const std::size_t after = first_of(group + 1); ++i < after;) {
                value = combine(std::move(value), term(i));
            }
            values[group].value = std::move(value);
        }
    });
    Value result = std::move(initial);
    for (Group& group : values) result = combine(std::move(result), std::move(group.value));
    return result;
}

}  // namespace strid::pattern
