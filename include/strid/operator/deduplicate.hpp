// SPDX-License-Identifier: Apache-2.0
//
// Passes the first record of a key on, and drops those that repeat it:
//
//     std::move(clicks).key_by<&Click::id>().apply(deduplicate(10min))
//
// A record passes unless a record of its key has passed whose event time is less than `within`
// away, earlier or later. A record below the watermark, or below that of its own input, is late: it
// is counted and dropped, because its original may be forgotten. A key is forgotten when the
// watermark excludes further repetitions.
//
// O(1) a record if the records of a key are at least `within` apart, else O(records that pass
// within it).
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/contract_checks.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/keyed_state.hpp>

namespace strid {

namespace operators {

template <class T, class KeyOf, class K, class TimeOf>
class Deduplicate : public OperatorTypes<message::Hashed<T>, T> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "deduplicate",
        .emits = Emits::at_most_one,
        .hears = events<BatchBegins, Coming<message::Hashed<T>>, Watermark>,
        .has = Has::time_of,
        .needs_watermarks = true,
        .passes_records = true,
        .finds_late = true};

    Deduplicate(KeyOf key_of, TimeOf time_of, Duration within)
        : key_of_(std::move(key_of)), time_of_(std::move(time_of)), within_(within) {}

    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    auto state() {
        return std::tuple_cat(std::make_tuple(states_by_key(keys_)), std::tie(watermark_),
                              std::make_tuple(GreatestOf(latest_)));
    }

    void on(const BatchBegins& batch) noexcept { asserted_ = batch.watermark; }
    [[nodiscard]] std::size_t on(Coming<message::Hashed<T>> coming) {
        return keys_.look_ahead(coming.records);
    }

    void process(message::Hashed<T>& arrived, auto& emit) {
        const EventTime time = time_of_(arrived.record);
        if (time < asserted_ || time < watermark_) [[unlikely]]
            return emit.late(arrived.record);
        auto& entry = keys_.find_or_make(std::invoke(key_of_, std::as_const(arrived.record)),
                                         arrived.hash, [] { return Passed{}; });
        Passed& passed = entry.state;
        std::erase_if(passed, [this](EventTime one) { return one + within_ <= watermark_; });
        if (std::ranges::any_of(passed, [&](EventTime one) { return repeats(one, time); })) return;
        passed.push_back(time);
        latest_ = std::max(latest_, time);
        keys_.use(entry, latest_.ns());
        emit(arrived.record);
    }

    /// Keys are in the order of the latest time so far, which is no earlier than any that has
    /// passed: a key is forgotten in time or a little later.
    bool on(Watermark watermark, auto& emit) {
        watermark_ = watermark.time;
        for (auto* key = keys_.longest_unused();
             key != nullptr && EventTime::of_ns(key->used_at) + within_ <= watermark_;
             key = keys_.longest_unused()) {
            if (!emit.room()) return false;
            keys_.expire(*key);
        }
        return true;
    }

  private:
    using Passed = std::vector<EventTime>;

    [[nodiscard]] bool repeats(EventTime one, EventTime other) const noexcept {
        return (one <= other ? other - one : one - other) < within_;
    }

    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] AgreedTime<TimeOf> time_of_;
    Duration within_;
    EventTime asserted_ = EventTime::earliest();
    EventTime watermark_ = EventTime::earliest();
    EventTime latest_ = EventTime::earliest();
    KeyedState<K, Passed,
               KeyLife{.expires = true, .clears = true, .shows_keys = false, .in_use_order = true}>
        keys_;
};

}  // namespace operators

/// For `apply`, behind `key_by`. Throws GraphError if `within` is not positive.
[[nodiscard]] inline auto deduplicate(Duration within) {
    if (within <= Duration::zero()) {
        throw GraphError("the time within which records repeat each other must be positive");
    }
    return [within]<class T, class KeyOf, class TimeOf>(
               const ArrivingByKey<T, KeyOf, TimeOf>& arriving) {
        if constexpr (operators::knows_time<TimeOf, T>()) {
            using K = typename ArrivingByKey<T, KeyOf>::key;
            return operators::Deduplicate<T, KeyOf, K, TimeOf>{arriving.key_of, arriving.time_of,
                                                               within};
        } else {
            return operators::Refused{};
        }
    };
}

}  // namespace strid
