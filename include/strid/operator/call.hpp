// SPDX-License-Identifier: Apache-2.0
//
// `stream.call(f, {.in_flight = 64})`: a map by a function that takes long because it waits for
// others, such as a request to a service or a query of a database.
//
// Each call is made on a thread of the operator, `in_flight` of them at a time, and the worker that
// steps the operator never waits in `f`. A record is in flight from its arrival until its result
// leaves; while as many are as may be, the operator takes no other (back-pressure).
//
// Order: results leave in the order of the records, or with `.ordered = false` as soon as they are
// there. A watermark follows the results of all records before it in both cases, and a late record
// is late behind the operator: its result waits until the watermark has passed.
//
// Failures: a call has failed if `f` throws, or has not returned within `timeout`. It is repeated
// `retries` times, after `backoff`, twice, four times and so on as long. Then the policy of the
// operator decides (OperatorOptions::on_exception, dead_letter, SkipRecord), as for a map.
//
// A thread cannot be stopped: the thread of a call that has exceeded its time continues until `f`
// returns, and its result is dropped. Other calls get other threads, 2 * in_flight in all; when no
// thread is left the operator waits. `f` should have a limit of its own, or take the
// std::stop_token, which requests a stop at the timeout and when the run is cancelled. The end of a
// run waits for calls that still run, with a `timeout` at most as long again: a thread that does
// not return by then is left behind, so that what `f` refers to must outlive it.
//
// In a simulation, and in a test harness, calls are made one after the other by the step itself,
// and take no time: nothing is timed out. A simulation repeats calls at once, a harness when its
// clock has gone on, or at the end.
//
// Ownership: the operator has the records in flight, and shares each with the thread that calls.
// Threads: only the task of the node, and `f` by several threads at the same time.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/operator/call_threads.hpp>
#include <strid/engine/operator/calls_in_flight.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/run_scope.hpp>

namespace strid {

/// The most calls that one replica makes at a time.
inline constexpr std::size_t calls_max = 4096;

/// Options of `call`.
struct CallOptions {
    std::size_t in_flight = 16;  ///< Records in flight at a time, and calls; up to calls_max.
    /// Results leave in the order of the records: one that takes long delays those behind it.
    /// False: each leaves when it is there.
    bool ordered = true;
    std::chrono::nanoseconds timeout{0};  ///< The longest that a call may take; 0: without limit.
    std::size_t retries = 0;              ///< How often a call that has failed is repeated.
    /// From the first failure of a record to the next call for it; twice as long after each further
    /// one, up to `backoff_max`. Up to a quarter is taken off, by the number of the record, so that
    /// calls that failed together are not repeated together.
    std::chrono::nanoseconds backoff = std::chrono::milliseconds{100};
    std::chrono::nanoseconds backoff_max = std::chrono::seconds{30};  ///< See `backoff`.
};

namespace operators {

template <class T, class F, class Report>
class WithDeadLetter;  // stream/dead_letter.hpp

/// The function that is called, without a dead_letter around it.
template <class F>
struct FunctionCalled {
    using type = F;
    static constexpr bool sets_aside = false;
};
template <class T, class F, class Report>
struct FunctionCalled<WithDeadLetter<T, F, Report>> {
    using type = F;
    static constexpr bool sets_aside = true;
};

/// A function that `call` accepts.
template <class F, class T>
concept CallFunction = (CalledWithStop<F, T> ||
                        std::invocable<const F&, const T&>)&&(std::movable<CallResultOf<F, T>>);

template <class F, class T>
consteval bool takes_call() {
    using Called = typename FunctionCalled<F>::type;
    if constexpr (!std::copy_constructible<F>) {
        static_assert(std::copy_constructible<F>,
                      "the function cannot be copied, and each replica has a copy of its own: hold "
                      "what cannot be copied by a std::shared_ptr");
        return false;
    } else if constexpr (!CallFunction<Called, T>) {
        static_assert(CallFunction<Called, T>,
                      "call needs a function F of the records T that arrive, which several threads "
                      "call at the same time: U f(const T&), const and with a result; a "
                      "std::stop_token may follow");
        return false;
    } else {
        constexpr bool hears = traits_of_function<Called>.hears.bits != 0;
        static_assert(!hears, "the function of call has no hooks: its threads send it no events");
        return !hears;
    }
}

/// Throws GraphError.
void check_call_options(const CallOptions& options);
/// From the failure with this number, from 1 on, to the next call.
[[nodiscard]] std::int64_t backoff_ns(const CallOptions& options, std::size_t failures,
                                      std::uint64_t record) noexcept;
/// The error of a call that took too long.
[[nodiscard]] std::exception_ptr call_timed_out(const CallOptions& options);

/// `TimeOf` gives the time of the records, unless it is NoTime.
template <class T, class F, class TimeOf>
class Call : public OperatorTypes<T, CallResultOf<typename FunctionCalled<F>::type, T>> {
    using Called = typename FunctionCalled<F>::type;
    using Result = CallResultOf<Called, T>;
    using One = CallOfRecord<T, Called, Result>;
    using InFlight = RecordsInFlight<T, One>;
    using Number = typename InFlight::Number;
    using Record = typename InFlight::Record;

  public:
    static constexpr OperatorTraits traits{
        .kind = "call",
        .emits = Emits::any_number,
        .hears = events<Opened, Restored, Watermark, Ended, Closed>,
        .has = Has::facts | Has::wake_at_ns | Has::held_back | Has::passed,
        .forgets_input = true,
        .may_skip = true,
        .awaits_outside = true};

    Call(F function, TimeOf time_of, const CallOptions& options)
        : function_(std::move(function)), time_of_(std::move(time_of)), options_(options) {
        check_owns_text<T>();
        check_owns_text<Result>();
        check_call_options(options_);
    }

    [[nodiscard]] OperatorFacts facts() const {
        return {.parallel_by_default = false,
                .notes = {"up to " + std::to_string(options_.in_flight) +
                          " calls at a time, on threads of its own"}};
    }
    auto state() { return std::tie(in_flight_); }

    void on(const Opened& opened) {
        if constexpr (FunctionCalled<F>::sets_aside) {
            called_ = std::make_shared<const Called>(function_.wrapped());
        } else {
            called_ = std::make_shared<const Called>(function_);
        }
        calls_ = opened.context.counter("calls");
        if (options_.retries != 0) retries_ = opened.context.counter("retries");
        if (options_.timeout.count() != 0) timeouts_ = opened.context.counter("timeouts");
        RunScope* const run = opened.context.run;
        at_once_ = run != nullptr && run->simulated();
        if (run == nullptr || at_once_) return;
        threads_ = std::make_shared<CallThreads>(options_.in_flight, opened.task,
                                                 run->interruption(), options_.timeout.count());
    }
    /// Calls that were in the hands of threads are made again.
    void on(Restored) {
        in_flight_.each([this](Number number, Record& record) {
            if (record.settled || (record.due_ns != 0 && record.call == nullptr)) return;
            in_flight_.wake_no_more(number);
            begin(number);
        });
    }

    void process(T& record, auto& /*emit*/) {
        bool late = false;
        if constexpr (!std::same_as<TimeOf, NoTime>) {
            late = std::invoke(time_of_, std::as_const(record)) < in_flight_.heard().watermark;
        }
        begin(in_flight_.add(std::move(record), late));
    }
    [[nodiscard]] bool held_back() const noexcept {
        return in_flight_.size() >= options_.in_flight || !waiting_.empty();
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return in_flight_.due_ns(); }
    [[nodiscard]] Progress passed() const noexcept { return in_flight_.passed(); }

    bool on(Watermark watermark, auto& emit) {
        in_flight_.hear({watermark.time, watermark.idle});
        return emit_results(emit);
    }
    bool on(Ended, auto& emit) {
        if (threads_ == nullptr) at_once_ = true;
        return emit_results(emit) && in_flight_.empty();
    }
    void on(Closed) {
        if (threads_ != nullptr) threads_->close();
    }

  private:
    /// Begins a call for the record, or lets it wait for a thread.
    void begin(Number number) {
        Record& record = in_flight_.at(number);
        if (threads_ != nullptr && !threads_->has_free()) return waiting_.push_back(number);
        calls_.add();
        record.call = std::make_shared<One>(called_, record.record, number);
        if (threads_ == nullptr) {
            record.call->make({});
            return settle(record);
        }
        if (options_.timeout.count() != 0) {
            in_flight_.wake(number, operator_clock_ns() + options_.timeout.count());
        }
        threads_->begin(record.call);
    }
    /// The record's call is over.
    void settle(Record& record) {
        const Number number = record.call->number;
        in_flight_.wake_no_more(number);
        if (record.call->error != nullptr && record.failures < options_.retries &&
            !is_skip(record.call->error)) {
            ++record.failures;
            retries_.add();
            record.call = nullptr;
            in_flight_.wake(
                number,
                at_once_ ? 1 : operator_clock_ns() + backoff_ns(options_, record.failures, number));
        } else {
            in_flight_.settle(number, options_.ordered);
        }
    }
    static bool is_skip(const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const SkipRecord&) {
            return true;
        } catch (...) {
            return false;
        }
    }

    /// Takes what the threads have done, and begins what is due.
    void look_at_calls() {
        if (threads_ != nullptr) {
            threads_->take_done(done_);
            for (const auto& done : done_) {
                Record* const record = in_flight_.of(static_cast<const One&>(*done));
                if (record != nullptr) settle(*record);
            }
            done_.clear();
        }
        if (in_flight_.due_ns() != 0) {
            const std::int64_t now = at_once_ ? INT64_MAX : operator_clock_ns();
            while (const auto due = in_flight_.due_at(now)) at_its_time(*due);
        }
        for (std::size_t n = waiting_.size(); n != 0 && threads_->has_free(); --n) {
            const Number number = waiting_.front();
            waiting_.pop_front();
            begin(number);
        }
    }
    /// A call has taken too long, or is to be repeated.
    void at_its_time(Number number) {
        Record& record = in_flight_.at(number);
        in_flight_.wake_no_more(number);
        if (record.call == nullptr) return begin(number);
        timeouts_.add();
        threads_->give_up(*record.call);
        // The thread still writes to the call that was given up.
        record.call = std::make_shared<One>(called_, record.record, number);
        record.call->error = call_timed_out(options_);
        settle(record);
    }

    /// Emits the results that may leave while there is room. False if there is none and some are
    /// left.
    bool emit_results(auto& emit) {
        look_at_calls();
        while (const auto next = in_flight_.next(options_.ordered)) {
            if (!emit.room()) return false;
            if (in_flight_.at(*next).late) emit.assert_progress(in_flight_.passed());
            const Record record = in_flight_.take(*next);
            if (record.call->error == nullptr) [[likely]] {
                emit(*record.call->result);
            } else {
                fail(record, emit);
            }
        }
        return true;
    }
    void fail(const Record& record, auto& emit) {
        try {
            try {
                std::rethrow_exception(record.call->error);
            } catch (...) {
                if constexpr (FunctionCalled<F>::sets_aside) function_.leave(*record.record);
                throw;
            }
        } catch (...) {
            emit.failed();
        }
    }

    F function_;
    [[no_unique_address]] TimeOf time_of_;
    CallOptions options_;
    InFlight in_flight_;
    std::deque<Number> waiting_;                       // for a thread; from in_flight_ if restored
    std::shared_ptr<const Called> called_;             // null before the run
    std::shared_ptr<CallThreads> threads_;             // null where there are none
    std::vector<std::shared_ptr<ThreadedCall>> done_;  // empty between two calls
    bool at_once_ = false;                             // repeats calls without waiting
    Counter calls_;
    Counter retries_;
    Counter timeouts_;
};

}  // namespace operators
}  // namespace strid
