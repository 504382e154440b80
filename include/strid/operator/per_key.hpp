// SPDX-License-Identifier: Apache-2.0
//
// The operators that hold a state for each key, in a table (operator/keyed_state.hpp) that is
// looked up with the hash that the record carries. `Life` determines how long keys are kept
// (operator/forget_keys.hpp), and where (operator/stored_keys.hpp).
//
// Threads: only the task of the node.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/per_record.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/forget_keys.hpp>
#include <strid/operator/keyed_state.hpp>

namespace strid {

/// A key with the value that an `accumulate` holds for it. A text key is valid until the end of the
/// run; if keys are forgotten, as long as a text field of a record.
template <class K, class V>
struct Keyed {
    K key;    ///< Of the records that were accumulated.
    V value;  ///< The state accumulated so far.
};

/// When a keyed accumulation emits its value.
enum class Emit : std::uint8_t {
    every_update,  ///< After each record: the papers' Accumulator.
    at_end         ///< Once per key, when the stream ends or the key is forgotten.
};

namespace operators {

/// The key type of a key function on `T`, by value.
template <class KeyOf, class T>
using KeyType = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;

/// Forgotten states are dropped.
inline constexpr auto dropped = [](const auto&, auto&) {};

/// The table of an operator that holds a state for each key, and its use of time.
template <class T, class KeyOf, class State, class Life, bool shows_keys = false>
class KeyedOperator {
    using K = KeyType<KeyOf, T>;

  public:
    using Keys = LivingKeys<K, State, Life, shows_keys>;
    using Entry = typename Keys::Entry;

    KeyedOperator(KeyOf key_of, Life life) : key_of_(std::move(key_of)), keys_(life) {}

    [[nodiscard]] std::size_t on(Coming<message::Hashed<T>> coming) {
        if constexpr (requires { keys_.read_ahead(coming.records, key_of_); }) {
            return keys_.read_ahead(coming.records, key_of_);
        } else {
            return keys_.table().look_ahead(coming.records);
        }
    }
    void on(BatchEnds)
        requires requires(Keys& keys) { keys.make_room(); }
    {
        keys_.make_room();
    }
    void on(SnapshotBegins snapshot)
        requires requires(Keys& keys) { keys.begin_snapshot(0); }
    {
        keys_.begin_snapshot(snapshot.number);
    }
    /// Where the keys are that are not in memory.
    [[nodiscard]] const auto& cold_stores() const noexcept
        requires requires(const Keys& keys) { keys.cold_stores(); }
    {
        return keys_.cold_stores();
    }
    void on(const BatchBegins&) noexcept
        requires requires(Keys& keys) { keys.end_batch(); }
    {
        keys_.end_batch();  // the one before
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept
        requires requires(const Keys& keys) { keys.wake_at_ns(); }
    {
        return keys_.wake_at_ns();
    }
    [[nodiscard]] static OperatorFacts facts() {
        if constexpr (requires { Keys::note; }) {
            return {.notes = {Keys::note}};
        } else if constexpr (Keys::forgets) {
            return {.notes = {"a state for each key, until it is forgotten"}};
        } else {
            return {.notes = {"a state for each key, for the whole run"}};
        }
    }

  protected:
    static constexpr OperatorTraits with(OperatorTraits traits) {
        traits.hears = traits.hears | events<Opened, Coming<message::Hashed<T>>>;
        traits.has = traits.has | Has::facts;
        Keys::add_to(traits);
        return traits;
    }
    /// Of a table that is opened. `make()` makes the state of a key.
    template <class Make>
    void open_keys([[maybe_unused]] const Opened& opened, [[maybe_unused]] const Make& make) {
        if constexpr (requires { keys_.open(opened.context, make); }) {
            keys_.open(opened.context, make);
        }
    }
    template <class Make, class Gone>
    [[gnu::always_inline]] Entry& entry_of(const message::Hashed<T>& arrived, Make&& make,
                                           Gone&& gone) {
        return keys_.find_or_make(std::invoke(key_of_, arrived.record), arrived.hash, make, gone);
    }
    static constexpr bool goes_on =
        requires(Keys& keys, EmitterProbe& emit) { keys.go_on(Watermark{}, emit, dropped); };
    [[nodiscard]] Keys& keys() noexcept { return keys_; }

  private:
    KeyOf key_of_;
    Keys keys_;
};

/// One copy of the function for each key, made from the prototype when the key first comes. The
/// prototype's `open` runs before the first record.
template <class F, class T, class KeyOf, class Life>
class PerKey : public KeyedOperator<T, KeyOf, F, Life> {
    using Base = KeyedOperator<T, KeyOf, F, Life>;

  public:
    static constexpr bool keyed = true;

    PerKey(F prototype, KeyOf key_of, Life life)
        : Base(std::move(key_of), life), prototype_(std::move(prototype)) {}

    auto state() {
        return this->keys().state([this]() -> const F& { return prototype_; });
    }

    using Base::on;
    void on(const Opened& opened) {
        context_ = opened.context;
        notify_function(prototype_, Opened{context_, opened.task, opened.stop});
        this->open_keys(opened, [this]() -> const F& { return prototype_; });
    }
    bool on(Watermark watermark, auto& emit)
        requires(Base::goes_on)
    {
        return this->keys().go_on(watermark, emit, dropped);
    }
    static constexpr void add_to(OperatorTraits& traits) { traits = Base::with(traits); }

  protected:
    [[nodiscard]] const Context& context() const noexcept { return context_; }
    [[nodiscard, gnu::always_inline]] F& function_for(const message::Hashed<T>& arrived) {
        return this
            ->entry_of(
                arrived, [this]() -> const F& { return prototype_; }, dropped)
            .state;
    }

  private:
    F prototype_;
    Context context_;
};

/// The state of a keyed accumulation: `Fold` is called as `fold(state, record)`.
template <class T, class State, class Fold, class KeyOf, class Life>
class Accumulate : public KeyedOperator<T, KeyOf, State, Life, true>,
                   public OperatorTypes<message::Hashed<T>, Keyed<KeyType<KeyOf, T>, State>> {
    using Base = KeyedOperator<T, KeyOf, State, Life, true>;
    using K = KeyType<KeyOf, T>;
    using Update = Keyed<K, State>;

  public:
    static constexpr OperatorTraits traits = Base::with({.kind = "accumulate",
                                                         .emits = Emits::any_number,
                                                         .hears = events<Ended>,
                                                         .may_skip = true});

    Accumulate(State initial, Fold fold, KeyOf key_of, Emit when, Life life)
        : Base(std::move(key_of), life),
          initial_(std::move(initial)),
          fold_(std::move(fold)),
          when_(when) {}

    auto state() {
        return std::tuple_cat(this->keys().state([this]() -> const State& { return initial_; }),
                              state_of_function(fold_));
    }

    using Base::on;
    void on(const Opened& opened) {
        context_ = opened.context;
        notify_function(fold_, Opened{context_, opened.task, opened.stop});
        this->open_keys(opened, [this]() -> const State& { return initial_; });
    }

    [[gnu::always_inline]] void process(message::Hashed<T>& arrived, auto& emit) {
        auto& entry = this->entry_of(
            arrived, [this]() -> const State& { return initial_; }, last_value(emit));
        call(fold_, context_, entry.state, std::as_const(arrived.record));
        if (when_ == Emit::every_update) {
            Update update{entry.key, entry.state};
            emit(update);
        }
    }

    bool on(Watermark watermark, auto& emit)
        requires(Base::goes_on)
    {
        return this->keys().go_on(watermark, emit, last_value(emit));
    }
    bool on(Ended, auto& emit) {
        if (when_ != Emit::at_end) return true;
        if constexpr (Base::Keys::forgets) {
            auto& table = this->keys().table();
            while (auto* const entry = table.longest_unused()) {
                if (!emit.room()) return false;
                last_value(emit)(entry->key, entry->state);
                table.expire(*entry);
            }
        } else {
            auto& table = this->keys().table();
            if (!position_) position_ = table.begin();
            for (; *position_ != table.end(); ++*position_) {
                if (!emit.room()) return false;
                last_value(emit)((*position_)->key, (*position_)->state);
            }
        }
        return true;
    }

  private:
    using Table = typename Base::Keys::Table;
    struct Nowhere {};
    static auto position_of_keys() {
        if constexpr (Base::Keys::forgets) {
            return std::type_identity<Nowhere>{};
        } else {
            return std::type_identity<std::optional<decltype(std::declval<Table&>().begin())>>{};
        }
    }

    [[gnu::always_inline]] auto last_value(auto& emit) {
        return [this, &emit](const K& key, State& state) {
            if (when_ != Emit::at_end) return;
            Update last{key, state};
            emit(last);
        };
    }

    State initial_;
    Fold fold_;
    Emit when_;
    Context context_;
    [[no_unique_address]] typename decltype(position_of_keys())::type position_;
};

/// Combines the records of a key pairwise: `T f(const T& so_far, const T& record)`. The first
/// record of a key passes as it is. The kept record must own its data: a `T` with text fields would
/// outlive the batch of its text.
template <class T, class F, class KeyOf, class Life>
class Reduce : public KeyedOperator<T, KeyOf, std::optional<T>, Life>,
               public OperatorTypes<message::Hashed<T>, T> {
    using Base = KeyedOperator<T, KeyOf, std::optional<T>, Life>;

  public:
    static constexpr OperatorTraits traits =
        Base::with({.kind = "reduce", .emits = Emits::one, .hears = events<>, .may_skip = true});

    Reduce(F combine, KeyOf key_of, Life life)
        : Base(std::move(key_of), life), combine_(std::move(combine)) {}

    auto state() {
        return std::tuple_cat(this->keys().state([] { return std::optional<T>{}; }),
                              state_of_function(combine_));
    }

    using Base::on;
    void on(const Opened& opened) {
        context_ = opened.context;
        notify_function(combine_, Opened{context_, opened.task, opened.stop});
        this->open_keys(opened, [] { return std::optional<T>{}; });
    }
    bool on(Watermark watermark, auto& emit)
        requires(Base::goes_on)
    {
        return this->keys().go_on(watermark, emit, dropped);
    }

    void process(message::Hashed<T>& arrived, auto& emit) {
        auto& held = this->entry_of(
                             arrived, [] { return std::optional<T>{}; }, dropped)
                         .state;
        if (held) {
            held = call(combine_, context_, std::as_const(*held), std::as_const(arrived.record));
        } else {
            held = arrived.record;
        }
        T update = *held;
        emit(update);
    }

  private:
    F combine_;
    Context context_;
};

}  // namespace operators
}  // namespace strid
