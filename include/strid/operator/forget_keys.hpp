// SPDX-License-Identifier: Apache-2.0
//
// How long an operator behind `key_by` keeps the state of a key: for the run, or as one of these
// options specifies.
//
//     std::move(clicks).key_by<&Click::user>(forget_after(30min)).map(CountOfUser{})
//     ....key_by<&Click::user>(forget_after_by_clock(30min).at_most(1'000'000))
//     ....key_by<&Click::user>(keep_at_most(1'000'000))
//
// A forgotten key begins anew with its next record. When there are more keys than may be kept, the
// least recently used key is forgotten.
//
// Event time: a key is forgotten once the watermark is `unused` beyond its value at the batch with
// the key's last record; that value depends on the batches of the run. A record finds its key if no
// record before it has moved the watermark so far. Clock: the machine's, as of the last run of the
// replica.
//
// Costs about 10 % of a lookup. Threads: only the task of the node.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/operator/function_state.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/runtime/task.hpp>

namespace strid {

/// The criterion by which keys are forgotten.
enum class ForgetBy : std::uint8_t {
    number,      ///< No time: only the number of keys is bounded.
    event_time,  ///< By the watermark.
    clock        ///< By the machine's clock.
};

/// How long keys are kept; made by the functions below.
template <ForgetBy by>
class ForgetKeys {
  public:
    /// Throws GraphError if the time is not positive.
    explicit ForgetKeys(Duration unused) : unused_(unused) {
        if (unused <= Duration::zero()) {
            throw GraphError("the time after which a key is forgotten must be positive");
        }
    }
    /// Keeps at most `keys` keys in one replica. Throws GraphError for 0.
    [[nodiscard]] ForgetKeys at_most(std::size_t keys) && {
        if (keys == 0) throw GraphError("a bound on keys must not be 0");
        keys_max_ = keys;
        return *this;
    }

    /// The longest time that a key is kept without a record; zero: no limit.
    [[nodiscard]] Duration unused() const noexcept { return unused_; }
    /// The most keys that a replica keeps; 0: no limit.
    [[nodiscard]] std::size_t keys_max() const noexcept { return keys_max_; }

  private:
    Duration unused_;
    std::size_t keys_max_ = std::numeric_limits<std::size_t>::max();
};

/// Forgets keys without a record for this much event time. Needs `event_time` before it.
[[nodiscard]] inline auto forget_after(Duration unused) {
    return ForgetKeys<ForgetBy::event_time>{unused};
}
/// Forgets keys without a record for this long by the machine's clock.
[[nodiscard]] inline auto forget_after_by_clock(Duration unused) {
    return ForgetKeys<ForgetBy::clock>{unused};
}
/// Keeps at most this many keys in each replica.
[[nodiscard]] inline auto keep_at_most(std::size_t keys) {
    return ForgetKeys<ForgetBy::number>{Duration::max()}.at_most(keys);
}

/// Keys are kept for the run.
struct KeepKeys {};

class StoredKeys;  // operator/stored_keys.hpp

/// How long an operator keeps the state of a key.
template <class Life>
concept KeysLife = std::same_as<Life, KeepKeys> || std::same_as<Life, StoredKeys> ||
                   std::same_as<Life, ForgetKeys<ForgetBy::number>> ||
                   std::same_as<Life, ForgetKeys<ForgetBy::event_time>> ||
                   std::same_as<Life, ForgetKeys<ForgetBy::clock>>;

namespace operators {

/// An operator that forgets keys by its own rule is not given another one.
template <class Life>
consteval bool keys_are_kept() {
    constexpr bool kept = std::same_as<Life, KeepKeys>;
    static_assert(kept,
                  "how long a key is kept, as key_by(key, forget_after(...)) says, is for map, "
                  "filter, flat_map, accumulate and reduce: windows and process forget keys by "
                  "themselves; keep_in_memory is for these and for process");
    return kept;
}

/// A state for each of these keys can be kept so.
template <class Life, class K, class State>
consteval bool can_keep() {
    if constexpr (requires { Life::template can_keep<K, State>(); }) {
        return Life::template can_keep<K, State>();
    }
    return true;
}

/// The table of an operator that may forget keys. `Life` is KeepKeys or ForgetKeys<...>;
/// `shows_keys`: emitted records may refer to the text of a key.
template <class K, class State, class Life, bool shows_keys>
class LivingKeys {
  public:
    explicit LivingKeys(Life) {}

    static constexpr bool forgets = false;
    using Table = KeyedState<K, State, KeyLife{.in_slices = true}>;
    using Entry = typename Table::Entry;
    static constexpr void add_to(OperatorTraits& traits) noexcept {
        traits.hears.is_conditional = true;
        traits.has = traits.has | has_if(false, Has::wake_at_ns);
    }

    template <class Make, class Gone>
    [[gnu::always_inline]] Entry& find_or_make(const K& key, std::uint64_t hash, Make&& make,
                                               Gone&& /*gone*/) {
        return table_.find_or_make(key, hash, make);
    }
    [[nodiscard]] Table& table() noexcept { return table_; }
    /// The state of an operator, where `make()` makes that of a key.
    template <class Make>
    [[nodiscard]] auto state(Make make) {
        return std::make_tuple(states_by_key(table_, std::move(make)));
    }

  private:
    Table table_;
};

template <class K, class State, ForgetBy by, bool shows_keys>
class LivingKeys<K, State, ForgetKeys<by>, shows_keys> {
  public:
    explicit LivingKeys(ForgetKeys<by> bound)
        : unused_ns_(bound.unused().count()), keys_max_(bound.keys_max()) {}

    static constexpr bool forgets = true;
    using Table =
        KeyedState<K, State,
                   KeyLife{.expires = true, .shows_keys = shows_keys, .in_use_order = true}>;
    using Entry = typename Table::Entry;
    static constexpr void add_to(OperatorTraits& traits) noexcept {
        traits.hears = traits.hears | events_if<BatchBegins, Watermark>(by != ForgetBy::number);
        if (by == ForgetBy::event_time) traits.needs_watermarks = true;
        traits.has = traits.has | has_if(by == ForgetBy::clock, Has::wake_at_ns);
    }

    /// Calls `gone(key, state)` for a key that is forgotten to make room.
    template <class Make, class Gone>
    Entry& find_or_make(const K& key, std::uint64_t hash, Make&& make, Gone&& gone) {
        Entry* entry = table_.find(key, hash);
        if (entry == nullptr) [[unlikely]] {
            if (table_.keys() == keys_max_) forget(*table_.longest_unused(), gone);
            entry = &table_.find_or_make(key, hash, make);
        }
        table_.use(*entry, saturating_sum(now_, 1));  // until the time of the batch is known
        return *entry;
    }
    [[nodiscard]] Table& table() noexcept { return table_; }
    template <class Make>
    [[nodiscard]] auto state(Make make) {
        return std::tuple_cat(std::make_tuple(states_by_key(table_, std::move(make))),
                              std::make_tuple(GreatestOf(now_)));
    }

    /// A batch is over, and the watermark did not change: the keys it used were used now.
    void end_batch() noexcept
        requires(by != ForgetBy::number)
    {
        settle(now_);
    }
    /// The time is now `now`: forgets keys that were unused for too long, while `emit.room()` is
    /// true. Returns true once all are forgotten.
    template <class Gone>
    bool go_on(const Watermark& watermark, auto& emit, Gone&& gone)
        requires(by != ForgetBy::number)
    {
        go_on_to(by == ForgetBy::clock ? operator_clock_ns() : watermark.time.ns());
        for (Entry* oldest = table_.longest_unused(); oldest != nullptr && is_over(*oldest);
             oldest = table_.longest_unused()) {
            if (!emit.room()) return false;
            forget(*oldest, gone);
        }
        return true;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept
        requires(by == ForgetBy::clock)
    {
        const Entry* const oldest = table_.longest_unused();
        return oldest == nullptr ? 0 : saturating_sum(oldest->used_at, unused_ns_);
    }

  private:
    static std::int64_t saturating_sum(std::int64_t time, std::int64_t positive) noexcept {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        return time > most - positive ? most : time + positive;
    }
    /// The keys that the present batch has used were used at the time that this batch brings.
    void go_on_to(std::int64_t now) noexcept {
        if (now <= now_) return;
        settle(now);
        now_ = now;
    }
    void settle(std::int64_t at) noexcept {
        for (Entry* entry = table_.last_used(); entry != nullptr && entry->used_at > now_;
             entry = entry->earlier) {
            entry->used_at = at;
        }
    }
    [[nodiscard]] bool is_over(const Entry& entry) const noexcept {
        return saturating_sum(entry.used_at, unused_ns_) <= now_;
    }
    template <class Gone>
    void forget(Entry& entry, Gone& gone) {
        gone(std::as_const(entry.key), entry.state);
        table_.expire(entry);
    }

    std::int64_t unused_ns_;
    std::size_t keys_max_;
    std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
    Table table_;
};

}  // namespace operators
}  // namespace strid
