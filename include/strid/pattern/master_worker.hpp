// SPDX-License-Identifier: Apache-2.0
//
// A master that hands out work and gets the results back, and decides what comes next (paper 4,
// section 1.2.1.3: a farm with feedback and without a collector).
//
//     struct Search {
//         void operator()(Problem problem, auto& out) { out.work(first_part(problem)); }
//         void operator()(PartResult result, auto& out) {
//             if (is_good_enough(result)) out(result.value);
//             else out.work(next_part(result));
//         }
//     };
//     run(pipeline(problems, master_worker<Part, double>(Search{}, solve), print));
//
// The master is one node and keeps its state without a lock. `out.work(w)` goes to a worker, whose
// result comes back to the master; `out(u)` leaves. It ends when its input has ended and no work is
// under way. It is a loop (composition.hpp: iterate), so it ends and cannot deadlock (design note
// 0017).
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/pattern/composition.hpp>
#include <strid/pattern/node_work.hpp>

namespace strid::pattern {

namespace detail {

/// The tasks of a master: those from outside, and the results of workers.
template <class T, class Result>
using ForMaster = std::variant<T, Result>;
/// The results of a master: work, and final results, which a worker passes on.
template <class Work, class U>
using FromMaster = std::variant<Work, U>;

template <class Result>
struct AsTask {
    template <class T>
    [[nodiscard]] ForMaster<T, Result> operator()(T task) const {
        return ForMaster<T, Result>(std::in_place_index<0>, std::move(task));
    }
};

template <class Work, class U, class Master>
struct MasterStep {
    Master master;

    template <class Arrived, class Emit>
    void operator()(Arrived arrived, Emit& emit) {
        Out<Emit> out{emit};
        if (arrived.index() == 0) {
            std::invoke(master, std::move(*std::get_if<0>(&arrived)), out);
        } else {
            std::invoke(master, std::move(*std::get_if<1>(&arrived)), out);
        }
    }

  private:
    /// The emitter of the master's functions.
    template <class Emit>
    struct Out {
        Emit& emit;

        void work(Work work) { emit(FromMaster<Work, U>(std::in_place_index<0>, std::move(work))); }
        void operator()(U made) {
            emit(FromMaster<Work, U>(std::in_place_index<1>, std::move(made)));
        }
    };
};

template <class Work, class U, class Worker>
struct WorkerStep {
    Worker worker;

    template <class Emit>
    void operator()(FromMaster<Work, U> arrived, Emit& emit) {
        if (arrived.index() == 0) {
            emit.again(ToMaster<std::invoke_result_t<Worker&, Work>>{
                std::invoke(worker, std::move(*std::get_if<0>(&arrived)))});
        } else {
            emit(std::move(*std::get_if<1>(&arrived)));
        }
    }

  private:
    /// Becomes what arrives at the master, whatever type the tasks from outside have.
    template <class Result>
    struct ToMaster {
        Result result;

        template <class T>
        operator ForMaster<T, Result>() && {  // NOLINT: implicit by intent
            return ForMaster<T, Result>(std::in_place_index<1>, std::move(result));
        }
    };
};

}  // namespace detail

/// `master` has `void operator()(Task, auto& out)` and `void operator()(Result, auto& out)`;
/// `worker` is `Result f(Work)`; results of `U` leave. The policy is one that does not look at the
/// tasks: Adaptive, RoundRobin, OnDemand, LeastLoaded.
template <TaskType Work, TaskType U, class Master, class Worker, class Policy = Adaptive>
    requires std::invocable<Worker&, Work>
[[nodiscard]] auto master_worker(Master master, Worker worker, Policy policy = {},
                                 const FarmOptions& options = {}) {
    using Result = std::remove_cvref_t<std::invoke_result_t<Worker&, Work>>;
    return pipeline(
        detail::AsTask<Result>{},
        iterate(pipeline(node<detail::FromMaster<Work, U>>(
                             detail::MasterStep<Work, U, Master>{std::move(master)}),
                         farm(node<U>(detail::WorkerStep<Work, U, Worker>{std::move(worker)}),
                              std::move(policy), options))));
}

}  // namespace strid::pattern
