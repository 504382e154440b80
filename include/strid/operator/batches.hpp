// SPDX-License-Identifier: Apache-2.0
//
// Functions of several records at once: `map_batch` and `filter_batch`. A function of one record is
// inlined into the loop that routes its results, which no compiler vectorises. A function of a span
// has a loop of its own:
//
//     .map_batch<float>([](std::span<const Sample> samples, std::span<float> levels) {
//         for (std::size_t i = 0; i != samples.size(); ++i) {
//             levels[i] = samples[i].left * samples[i].left + samples[i].right * samples[i].right;
//         }
//     })
//     .filter_batch([](std::span<const float> levels, std::span<bool> keep) {
//         for (std::size_t i = 0; i != levels.size(); ++i) keep[i] = levels[i] > 0.25F;
//     })
//
// The records are those that arrived together, in their order, at most `batch_function_max`: as
// many as wait, one where few come. Each operator is the first of its task, so that it has a batch
// before it: a chain is cut there, and the records are copied once. It pays for loops that take
// some nanoseconds a record.
//
// Threads: as any operator.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/per_record.hpp>
#include <strid/operator/callable.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// The most records of which a batch function gets results of type `U` at once: they take 16 KiB,
/// if that is from 16 to 512 of them.
template <class U>
inline constexpr std::size_t batch_function_max =
    std::clamp<std::size_t>((std::size_t{16} << 10) / sizeof(U), 16, 512);

/// A function of map_batch: `void f(std::span<const T>, std::span<U>)`.
template <class F, class T, class U>
concept BatchMapFunction = operators::Callable<F, std::span<const T>, std::span<U>>;
/// A function of filter_batch: `void f(std::span<const T>, std::span<bool>)`.
template <class F, class T>
concept BatchFilterFunction = operators::Callable<F, std::span<const T>, std::span<bool>>;

namespace operators {

/// Has a result of type `Result` for each of the records that come. `fresh`: the function finds
/// them value-initialised. Invariant: results from `next_` to `end_` are those of the next records.
template <class In, class Result, class F, bool fresh>
class OfBatches : public Plain<F> {
    static constexpr FunctionTraits of_function = traits_of_function<F>;

  public:
    using Plain<F>::Plain;
    using Plain<F>::on;

    [[nodiscard]] OperatorFacts facts() const {
        OperatorFacts facts;
        facts.notes.push_back("takes up to " + std::to_string(batch_function_max<Result>) +
                              " records at once, so it begins a task");
        return facts;
    }

    [[nodiscard]] std::size_t on(Coming<In> coming) {
        // The output had no room for all the records of the last call.
        if (next_ != end_) return end_ - next_;
        if (results_ == nullptr) results_ = std::make_unique<Result[]>(batch_function_max<Result>);
        const std::size_t some = std::min(coming.records.size(), batch_function_max<Result>);
        const std::span<Result> results(results_.get(), some);
        if constexpr (fresh) std::fill(results.begin(), results.end(), Result{});
        call(this->function(), this->context(), coming.records.first(some), results);
        next_ = 0;
        end_ = some;
        return some;
    }

  protected:
    static constexpr OperatorTraits with(OperatorTraits traits) {
        Plain<F>::add_to(traits);
        traits.hears = traits.hears | events<Coming<In>>;
        traits.has = Has::facts;
        traits.takes_batches = true;
        traits.no_snapshots = of_function.no_snapshots;
        return traits;
    }
    /// Of the record that has arrived.
    [[nodiscard]] [[gnu::always_inline]] Result& next() noexcept {
        STRID_ASSERT(next_ != end_);
        return results_[next_++];
    }

    OfBatches(const OfBatches& other) : Plain<F>(other) {}  // for another replica
    OfBatches(OfBatches&&) noexcept = default;
    OfBatches& operator=(const OfBatches&) = delete;
    OfBatches& operator=(OfBatches&&) = delete;
    ~OfBatches() = default;

  private:
    std::unique_ptr<Result[]> results_;
    std::size_t next_ = 0;
    std::size_t end_ = 0;
};

template <class T, class U, class F>
struct BatchMap : OfBatches<T, U, F, false>, OperatorTypes<T, U> {
    using Base = OfBatches<T, U, F, false>;
    static constexpr OperatorTraits traits = Base::with(
        {.kind = "map_batch", .emits = Emits::one, .hears = events<>, .only_reads = true});
    using Base::Base;

    [[gnu::always_inline]] void process(const T& /*record*/, auto& emit) { emit(this->next()); }
};

template <class T, class F>
struct BatchFilter : OfBatches<T, bool, F, true>, OperatorTypes<T, T> {
    using Base = OfBatches<T, bool, F, true>;
    static constexpr OperatorTraits traits = Base::with({.kind = "filter_batch",
                                                         .emits = Emits::at_most_one,
                                                         .hears = events<>,
                                                         .passes_records = true});
    using Base::Base;

    [[gnu::always_inline]] void process(T& record, auto& emit) {
        if (this->next()) emit(record);
    }
};

template <class F, class T, class U>
consteval bool takes_map_batch() {
    static_assert(std::is_default_constructible_v<U>,
                  "map_batch<U> needs results U that can be made without arguments");
    if constexpr (!std::is_default_constructible_v<U>) {
        return false;
    } else if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!BatchMapFunction<F, T, U>) {
        static_assert(BatchMapFunction<F, T, U>,
                      "map_batch<U> needs a function F of the records T that arrive and of their "
                      "results: void f(std::span<const T>, std::span<U>); a const Context& may "
                      "follow");
        return false;
    } else {
        return keeps_contract<F, std::span<const T>, std::span<U>>();
    }
}

template <class F, class T>
consteval bool takes_filter_batch() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!BatchFilterFunction<F, T>) {
        static_assert(BatchFilterFunction<F, T>,
                      "filter_batch needs a function F of the records T that arrive and of the "
                      "choice: void f(std::span<const T>, std::span<bool> keep); a const Context& "
                      "may follow");
        return false;
    } else {
        return keeps_contract<F, std::span<const T>, std::span<bool>>();
    }
}

}  // namespace operators

}  // namespace strid
