// SPDX-License-Identifier: Apache-2.0
//
// The operators that apply a user's function to each record. Neighbours in a chain compose when the
// template is instantiated, so that a fused segment is one loop over a batch without a call between
// its operators.
//
// A holder has the user's function: `Plain` has one for the replica, `PerKey`
// (operator/per_key.hpp) one for each key.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/hash.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/function_state.hpp>
#include <strid/operator/callable.hpp>
#include <strid/operator/contract.hpp>

namespace strid::operators {

/// One function for all records of the replica, with its context.
template <class F>
class Plain {
  public:
    static constexpr bool keyed = false;
    static constexpr void add_to(OperatorTraits& traits) {
        traits.hears =
            traits.hears | events<Opened> |
            traits_of_function<F>.hears.template among<Restored, SnapshotBegins, Flush, Closed>();
    }

    explicit Plain(F function) : function_(std::move(function)) {}

    void on(const Opened& opened) {
        context_ = opened.context;
        notify_function(function_, Opened{context_, opened.task, opened.stop});
    }
    void on(Restored restored)
        requires FunctionHears<F, Restored>
    {
        function_.on(restored);
    }
    void on(SnapshotBegins snapshot)
        requires FunctionHears<F, SnapshotBegins>
    {
        function_.on(snapshot);
    }
    void on(Flush flush)
        requires FunctionHears<F, Flush>
    {
        function_.on(flush);
    }
    void on(Closed closed)
        requires FunctionHears<F, Closed>
    {
        function_.on(closed);
    }
    auto state() { return state_of_function(function_); }
    void merge_state(const Plain& other)
        requires MergesState<F>
    {
        function_.merge_state(other.function_);
    }
    void split_state(StateShare share)
        requires MergesState<F>
    {
        function_.split_state(share);
    }

  protected:
    [[nodiscard]] const Context& context() const noexcept { return context_; }
    [[nodiscard]] F& function() noexcept { return function_; }
    [[nodiscard]] const F& function() const noexcept { return function_; }

  private:
    F function_;
    Context context_;
};

/// The user's record, without the hash that it may carry.
template <class T>
[[nodiscard]] T& record_of(T& record) noexcept {
    return record;
}
template <class T>
[[nodiscard]] T& record_of(message::Hashed<T>& hashed) noexcept {
    return hashed.record;
}
template <class Arrived>
using RecordOf = std::remove_cvref_t<decltype(record_of(std::declval<Arrived&>()))>;

/// The type that a map function returns for a `T`.
template <class F, class T>
struct MapResult {
    using type = std::remove_cvref_t<CallResult<F, T&&>>;
};
template <class F, class T>
    requires InPlaceMap<F, T>
struct MapResult<F, T> {
    using type = T;
};

/// Applies an operator with the function that belongs to the record. With one function for all, the
/// operator is inlined into the loop of its chain: fields that are not read are never copied. With
/// one for each key the compiler decides, and makes a call of it: the lookup and the state need the
/// registers (spike detection loses 15 % if it is inlined).
template <class Operator, class In, class Out, class Holder>
struct Applied : Holder, OperatorTypes<In, Out> {
    explicit Applied(Holder holder) : Holder(std::move(holder)) {}

    [[gnu::always_inline]] void process(In& arrived, auto& emit)
        requires(!Holder::keyed)
    {
        static_cast<Operator&>(*this).apply(this->function(), record_of(arrived), emit);
    }
    void process(In& arrived, auto& emit)
        requires(Holder::keyed)
    {
        static_cast<Operator&>(*this).apply(this->function_for(arrived), arrived.record, emit);
    }

    /// The traits of the operator with those of its holder.
    static constexpr OperatorTraits with(OperatorTraits traits) {
        Holder::add_to(traits);
        return traits;
    }
};

/// One record out for each record in, changed in place or of another type.
template <class In, class F, class Holder>
struct Map : Applied<Map<In, F, Holder>, In, typename MapResult<F, RecordOf<In>>::type, Holder> {
    using Base = Applied<Map, In, typename MapResult<F, RecordOf<In>>::type, Holder>;
    static constexpr OperatorTraits traits =
        Base::with({.kind = "map", .emits = Emits::one, .hears = events<>, .may_skip = true});
    using Base::Base;

    [[gnu::always_inline]] void apply(F& function, RecordOf<In>& record, auto& emit) {
        if constexpr (InPlaceMap<F, RecordOf<In>>) {
            call(function, this->context(), record);
            emit(record);
        } else {
            auto result = call(function, this->context(), std::move(record));
            emit(result);
        }
    }
};

/// Keeps the records for which the function returns true.
template <class In, class F, class Holder>
struct Filter : Applied<Filter<In, F, Holder>, In, RecordOf<In>, Holder> {
    using Base = Applied<Filter, In, RecordOf<In>, Holder>;
    static constexpr OperatorTraits traits = Base::with({.kind = "filter",
                                                         .emits = Emits::at_most_one,
                                                         .hears = events<>,
                                                         .passes_records = true,
                                                         .may_skip = true});
    using Base::Base;

    [[gnu::always_inline]] void apply(F& function, RecordOf<In>& record, auto& emit) {
        if (call(function, this->context(), std::as_const(record))) emit(record);
    }
};

/// Any number of records out for each record in.
template <class In, class U, class F, class Holder>
struct FlatMap : Applied<FlatMap<In, U, F, Holder>, In, U, Holder> {
    using Base = Applied<FlatMap, In, U, Holder>;
    static constexpr OperatorTraits traits = Base::with(
        {.kind = "flat_map", .emits = Emits::any_number, .hears = events<>, .may_skip = true});
    using Base::Base;

    [[gnu::always_inline]] void apply(F& function, RecordOf<In>& record, auto& emit) {
        EmitOne<std::remove_reference_t<decltype(emit)>> emit_one{emit};
        if constexpr (Callable<F, RecordOf<In>&, decltype(emit_one)&>) {
            call(function, this->context(), record, emit_one);
        } else {
            Emitter<U> erased{emit_one};
            call(function, this->context(), record, erased);
        }
    }

  private:
    template <class Emit>
    struct EmitOne {
        Emit& emit;

        [[gnu::always_inline]] void operator()(U emitted) const { emit(emitted); }
        /// NextProbe has refused it.
        template <class Other>
            requires(!std::convertible_to<Other, U>)
        void operator()(Other&&) const {}
    };
};

/// Takes the records out of the graph. It has replicas without a request if it says that its copies
/// share nothing: the trait `.parallel_by_default`. A lambda without captures may write to a
/// global, so that having no members says nothing.
template <class In, class F>
struct Sink : Plain<F>, OperatorTypes<In, void> {
    static constexpr FunctionTraits of_function = traits_of_function<F>;
    static constexpr OperatorTraits traits{
        .kind = "sink",
        .emits = Emits::nothing,
        .hears =
            events<Opened> |
            of_function.hears.template among<Restored, SnapshotBegins, Flush, Closed, CutOff>(),
        .has = Has::facts | has_if(function_has<F, Has::blocks>, Has::blocks) |
               has_if(function_has<F, Has::accepts>, Has::accepts),
        .may_skip = true,
        .one_replica = of_function.one_replica,
        .no_snapshots = of_function.no_snapshots};
    using Plain<F>::Plain;
    using Plain<F>::on;

    [[gnu::always_inline]] void process(In& arrived, auto& /*emit*/) {
        call(this->function(), this->context(), std::move(record_of(arrived)));
    }
    [[nodiscard]] OperatorFacts facts() const {
        OperatorFacts facts{.parallel_by_default = of_function.parallel_by_default};
        if constexpr (function_has<F, Has::files>) {
            const auto& files = this->function().files();
            facts.files = {files.begin(), files.end()};
        }
        return facts;
    }
    /// Any thread.
    void on(CutOff cut_off) noexcept
        requires FunctionHears<F, CutOff>
    {
        this->function().on(cut_off);
    }
    /// A sink that may block in the operating system (a pipe with a slow reader).
    [[nodiscard]] bool blocks() const noexcept
        requires function_has<F, Has::blocks>
    {
        return this->function().blocks();
    }
    [[nodiscard]] bool accepts()
        requires function_has<F, Has::accepts>
    {
        return this->function().accepts();
    }
};

/// Calls the key function for every record and passes the record on unchanged: an exception is
/// found before the record is sent.
template <class T, class KeyOf>
class KeyCheck : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{.kind = "key_by",
                                           .hears = events<>,
                                           .passes_records = true,
                                           .may_skip = true,
                                           .stateless = true};

    explicit KeyCheck(KeyOf key_of) : key_of_(std::move(key_of)) {}

    [[gnu::always_inline]] void process(T& record, auto& emit) {
        (void)std::invoke(key_of_, std::as_const(record));
        emit(record);
    }

  private:
    [[no_unique_address]] KeyOf key_of_;
};

/// Hashes the key once, while the stream is still one: for replicas behind it that each receive
/// every record.
template <class T, class KeyOf>
class HashKey : public OperatorTypes<T, message::Hashed<T>> {
  public:
    static constexpr OperatorTraits traits{.kind = "map",
                                           .hears = events<>,
                                           .has = Has::facts,
                                           .passes_records = true,
                                           .stateless = true};

    /// `name` is that of the key function in an error. `one_replica`: all replicas behind it get
    /// one order.
    HashKey(KeyOf key_of, std::string name, bool one_replica)
        : key_of_(std::move(key_of)), name_(std::move(name)), one_replica_(one_replica) {}

    [[nodiscard]] OperatorFacts facts() const { return {.one_replica = one_replica_}; }

    void process(T& record, auto& emit) {
        const std::uint64_t hash =
            guarded(name_, [&] { return hash_of(std::invoke(key_of_, std::as_const(record))); });
        message::Hashed<T> hashed{std::move(record), hash};
        emit(hashed);
    }

  private:
    [[no_unique_address]] KeyOf key_of_;
    std::string name_;
    bool one_replica_;
};

/// Passes every record on unchanged, with a hash: a segment that only routes, after a split or a
/// merge, or the distribution of another.
template <class In>
struct Identity : OperatorTypes<In, In> {
    static constexpr OperatorTraits traits{
        .kind = "route", .hears = events<>, .passes_records = true};

    [[gnu::always_inline]] void process(In& arrived, auto& emit) { emit(arrived); }
};

}  // namespace strid::operators
