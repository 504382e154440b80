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
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include <strid/engine/base/cache_line.hpp>
#include <strid/pattern/team.hpp>

namespace strid::pattern {

/// The sizes of the parts of a loop that threads take.
enum class Schedule : std::uint8_t {
    automatic,  ///< Guided, down to parts that end within 3 % of a thread's share. For most loops.
    even,       ///< One part for each thread: for iterations of equal, short time.
    dynamic,    ///< Parts of `iterations_min`: for few iterations of very different times.
    guided      ///< Each a share of what is left, down to `iterations_min`.
};

/// How the iterations of a loop are divided.
struct RangeOptions {
    /// Iterations that a thread takes at once, at least; 0: by the size of the loop (automatic,
    /// even), or 1 (dynamic, guided). Even: the parts have just so many, where it is given.
    std::size_t iterations_min = 0;
    /// How large the parts are above that.
    Schedule schedule = Schedule::automatic;
};

namespace detail {

/// A part has what is left divided by `shares`, and `least` iterations at least.
struct PartSizes {
    std::size_t least = 1;
    std::size_t shares = 0;  // 0: no more than the least
};

/// A range that threads take parts of. `work(begin, end)` does a part.
template <class Work>
class RangeJob final : public Job {
  public:
    RangeJob(std::size_t begin, std::size_t end, const PartSizes& sizes, Work& work)
        : next_(begin), end_(end), sizes_(sizes), work_(work) {}

    bool take_part() noexcept override {
        bool any = false;
        while (true) {
            std::size_t begin = next_.load(std::memory_order_relaxed);
            std::size_t end = begin;
            do {
                if (begin >= end_) return any;
                end = begin + part_of(end_ - begin);
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
    [[nodiscard]] std::size_t part_of(std::size_t left) const noexcept {
        const std::size_t share = sizes_.shares == 0 ? 0 : left / sizes_.shares;
        return std::min(left, std::max(sizes_.least, share));
    }
    void keep(std::exception_ptr failure) noexcept {
        next_.store(end_, std::memory_order_relaxed);
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::move(failure);
    }

    alignas(cache_line_bytes) std::atomic<std::size_t> next_;
    alignas(cache_line_bytes) std::size_t end_;
    PartSizes sizes_;
    Work& work_;
    std::mutex mutex_;
    std::exception_ptr failure_;  // guarded
};

/// Calls `work(begin, end)` for parts that make up the range.
template <class Work>
void share_range(Team& team, std::size_t begin, std::size_t end, const PartSizes& sizes,
                 Work&& work) {
    if (begin >= end) return;
    RangeJob job(begin, end, sizes, work);
    team.run(job);
    job.rethrow_failure();
}

[[nodiscard]] inline PartSizes part_sizes(std::size_t iterations, std::size_t threads,
                                          const RangeOptions& options) {
    const std::size_t asked = options.iterations_min;
    const std::size_t shares = 2 * threads;
    switch (options.schedule) {
        case Schedule::even:
            return {.least = asked != 0
                                 ? asked
                                 : std::max<std::size_t>(1, (iterations + threads - 1) / threads)};
        case Schedule::dynamic:
            return {.least = std::max<std::size_t>(asked, 1)};
        case Schedule::guided:
            return {.least = std::max<std::size_t>(asked, 1), .shares = shares};
        case Schedule::automatic:
            break;
    }
    const std::size_t small = std::max<std::size_t>(iterations / (32 * threads), 1);
    return {.least = asked != 0 ? asked : small, .shares = shares};
}

}  // namespace detail

/// `body(i)` for each `i` of [begin, end), in any order. Throws what an iteration throws.
template <std::invocable<std::size_t> Body>
void parallel_for(Team& team, std::size_t begin, std::size_t end, Body&& body,
                  const RangeOptions& options = {}) {
    const detail::PartSizes sizes =
        detail::part_sizes(end - std::min(begin, end), team.threads(), options);
    detail::share_range(team, begin, end, sizes, [&body](std::size_t first, std::size_t last) {
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
/// of threads and any options, also where `combine` rounds; `combine` is associative but for that,
/// and combines a value and a term, and two values. Threads take whole groups: 256 of them, or one
/// for each term.
template <class Value, class Term, class Combine>
[[nodiscard]] Value parallel_reduce(Team& team, std::size_t begin, std::size_t end, Value initial,
                                    Term&& term, Combine&& combine,
                                    const RangeOptions& options = {}) {
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
    const std::size_t of_group = (iterations + groups - 1) / groups;
    RangeOptions of_groups = options;
    of_groups.iterations_min = (options.iterations_min + of_group - 1) / of_group;
    const detail::PartSizes sizes = detail::part_sizes(groups, team.threads(), of_groups);
    detail::share_range(team, 0, groups, sizes, [&](std::size_t first, std::size_t last) {
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
