// SPDX-License-Identifier: Apache-2.0
//
// The per-record operators. A stage is one idea on a few lines: `stage(record, next)` handles one
// record and calls `next` for each record that comes out. Neighbours compose when the template is
// instantiated, so a fused segment is one loop over a batch without a call between its operators.
// The record arrives as `T&`: the stage may change it and move from it.
//
// The user's function comes through a holder: `Plain` has one for the replica, `PerKey`
// (operator/per_key.hpp) one for each key.
//
// `selective` says whether a stage may let a record go or make several of it. Optional members of a
// stage: `may_skip`, true for one that goes on well after the user's function has thrown in the
// middle of a record (operator/faults.hpp); `one_at_most`, true for a selective one that never
// makes several; `only_reads`, true for one that neither changes nor hands on the records that
// come; `passes_records`, true for one behind which they are what they were; `time_of()`, the
// AgreedTime by which it relies on the watermark, and `draws_from()`, the time function of one that
// draws watermarks (operator/agreed_time.hpp); `look_ahead(records, count)` before so many records
// come, to bring near what they need, which returns for how many of them it did, one at least;
// `open(const Context&)` before the first record; `heed(progress)` when the input has come so far,
// idle or not; `held_back()`, true while nothing is to be begun though there is room;
// `begin_batch(EventTime)` with what the sender of a batch promised before it; `advance(watermark,
// next, ready)` when the input has come so far, which emits what that sets off and returns true
// once all is out (in every run where `asks_the_clock`); `texts()`, the memory::PassingTexts that
// what it emits may point to; `forgets_input`, true where nothing that it emits points to texts of
// its input; `take_late()`, the late records since it was last asked; `flush()` when nothing more
// waits; `finish(next, ready)` when the input has ended, which emits what the stage still holds
// while `ready()` says so, and returns true once it is done; `attach(Task&)` for one that outside
// threads wake; `blocks()`, true for one that needs a thread of its own; `accepts()`, false to
// refuse records for a while; `cut_off()`, any thread, where the run ends before the stream does;
// `close()` at the very end.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <strid/message/batch.hpp>
#include <strid/operator/callable.hpp>
#include <strid/runtime/task.hpp>

namespace strid::operators {

/// One function for all records of the replica, with its context.
template <class F>
class Plain {
  public:
    using Function = F;
    static constexpr bool keyed = false;

    explicit Plain(F function) : function_(std::move(function)) {}

    void open(const Context& context) {
        context_ = context;
        if constexpr (requires { function_.open(context); }) function_.open(context);
    }
    void flush() {
        if constexpr (requires { function_.flush(); }) function_.flush();
    }
    void close() {
        if constexpr (requires { function_.close(); }) function_.close();
    }

  protected:
    [[nodiscard]] const Context& context() const noexcept { return context_; }
    [[nodiscard]] F& function() noexcept { return function_; }
    [[nodiscard]] const F& function() const noexcept { return function_; }

  private:
    F function_;
    Context context_;
};

/// The user's record, without the hash that it may travel with.
template <class T>
[[nodiscard]] T& record_of(T& record) noexcept {
    return record;
}
template <class T>
[[nodiscard]] T& record_of(message::Hashed<T>& hashed) noexcept {
    return hashed.record;
}

/// The type that a map function makes of a `T`.
template <class F, class T>
struct MapResult {
    using type = std::remove_cvref_t<CallResult<F, T&&>>;
};
template <class F, class T>
    requires InPlaceMap<F, T>
struct MapResult<F, T> {
    using type = T;
};

/// What applies an operator to the function that a record belongs to. With one function for all,
/// the operator is inlined into the loop of its chain: fields that nobody reads are never copied.
/// With one for each key it is left to the compiler, which makes a call of it: the lookup and the
/// state want the registers for themselves (spike detection loses 15 % where it is inlined).
template <class Operator, class Holder>
struct Applied : Holder {
    explicit Applied(Holder holder) : Holder(std::move(holder)) {}

    template <class Arrived, class Next>
        requires(!Holder::keyed)
    [[gnu::always_inline]] void operator()(Arrived& arrived, Next&& next) {
        static_cast<Operator&>(*this).apply(this->function(), record_of(arrived), next);
    }
    template <class T, class Next>
        requires(Holder::keyed)
    void operator()(message::Hashed<T>& arrived, Next&& next) {
        static_cast<Operator&>(*this).apply(this->function_for(arrived), arrived.record, next);
    }
};

/// One record out for each record in, changed in place or of another type.
template <class Holder>
struct Map : Applied<Map<Holder>, Holder> {
    static constexpr bool selective = false;
    static constexpr bool may_skip = true;
    explicit Map(Holder holder) : Applied<Map, Holder>(std::move(holder)) {}

    template <class F, class T, class Next>
    [[gnu::always_inline]] void apply(F& function, T& record, Next& next) {
        if constexpr (InPlaceMap<F, T>) {
            call(function, this->context(), record);
            next(record);
        } else {
            auto result = call(function, this->context(), std::move(record));
            next(result);
        }
    }
};

/// Keeps the records of which the function says true.
template <class Holder>
struct Filter : Applied<Filter<Holder>, Holder> {
    static constexpr bool selective = true;
    static constexpr bool one_at_most = true;
    static constexpr bool passes_records = true;
    static constexpr bool may_skip = true;
    explicit Filter(Holder holder) : Applied<Filter, Holder>(std::move(holder)) {}

    template <class F, class T, class Next>
    [[gnu::always_inline]] void apply(F& function, T& record, Next& next) {
        if (call(function, this->context(), std::as_const(record))) next(record);
    }
};

/// Any number of records out for each record in.
template <class Holder, class U>
struct FlatMap : Applied<FlatMap<Holder, U>, Holder> {
    static constexpr bool selective = true;
    static constexpr bool may_skip = true;
    explicit FlatMap(Holder holder) : Applied<FlatMap, Holder>(std::move(holder)) {}

    template <class F, class T, class Next>
    [[gnu::always_inline]] void apply(F& function, T& record, Next& next) {
        auto emit = [&next](U emitted) { next(emitted); };
        if constexpr (Callable<F, T&, decltype(emit)&>) {
            call(function, this->context(), record, emit);
        } else {
            Emitter<U> erased{emit};
            call(function, this->context(), record, erased);
        }
    }
};

/// Takes the records out of the graph.
template <class F>
struct Sink : Plain<F> {
    static constexpr bool selective = false;
    static constexpr bool may_skip = true;
    using Plain<F>::Plain;

    template <class Arrived, class Next>
    [[gnu::always_inline]] void operator()(Arrived& arrived, Next&&) {
        call(this->function(), this->context(), std::move(record_of(arrived)));
    }
    void attach(runtime::Task& task)
        requires requires(F& function) { function.attach(task); }
    {
        this->function().attach(task);
    }
    /// A sink that may block in the operating system (a pipe with a slow reader).
    [[nodiscard]] bool blocks() const noexcept
        requires requires(const F& function) {
            { function.blocks() } -> std::same_as<bool>;
        }
    {
        return this->function().blocks();
    }
    [[nodiscard]] bool accepts()
        requires requires(F& function) {
            { function.accepts() } -> std::same_as<bool>;
        }
    {
        return this->function().accepts();
    }
    void cut_off() noexcept
        requires requires(F& function) {
            { function.cut_off() } noexcept;
        }
    {
        this->function().cut_off();
    }
};

/// Asks for the key of every record and hands it on as it is: where the function throws, that is
/// seen before the record is sent.
template <class KeyOf>
struct KeyCheck {
    static constexpr bool selective = false;
    static constexpr bool passes_records = true;
    static constexpr bool may_skip = true;
    [[no_unique_address]] KeyOf key_of;

    template <class T, class Next>
    [[gnu::always_inline]] void operator()(T& record, Next&& next) {
        (void)std::invoke(key_of, std::as_const(record));
        next(record);
    }
};

/// Hands every record on as it is, a hash included: a segment that only routes, after a split or a
/// merge, or the distribution of another.
struct Identity {
    static constexpr bool selective = false;
    static constexpr bool passes_records = true;

    template <class Arrived, class Next>
    [[gnu::always_inline]] void operator()(Arrived& arrived, Next&& next) {
        next(arrived);
    }
};

}  // namespace strid::operators
