// SPDX-License-Identifier: Apache-2.0
//
// The operators that hold a state for each key, in a table (operator/key_table.hpp) that is looked
// up with the hash that the record brought along.
//
// Threads: only the task of the node.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <strid/message/batch.hpp>
#include <strid/operator/key_table.hpp>
#include <strid/operator/stage.hpp>

namespace strid {

/// A key with the value that an `accumulate` holds for it. A text key stays valid until the graph's
/// run is over.
template <class K, class V>
struct Keyed {
    K key;
    V value;
};

/// When a keyed accumulation tells what it has.
enum class Emit : std::uint8_t {
    every_update,  ///< After each record: the papers' Accumulator.
    at_end         ///< Once per key, when the stream ends.
};

namespace operators {

/// The key type of a key function on `T`, by value.
template <class KeyOf, class T>
using KeyType = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;

/// One copy of the function for each key, made from the prototype when the key first comes. The
/// prototype's `open` runs before the first record.
template <class F, class KeyOf, class K>
class PerKey {
  public:
    using Function = F;
    static constexpr bool keyed = true;

    PerKey(F prototype, KeyOf key_of)
        : prototype_(std::move(prototype)), key_of_(std::move(key_of)) {}

    void open(const Context& context) {
        context_ = context;
        if constexpr (requires { prototype_.open(context); }) prototype_.open(context);
    }
    template <class T>
    [[nodiscard]] std::size_t look_ahead(const message::Hashed<T>* arrived, std::size_t count) {
        return table_.look_ahead(arrived, count, key_of_);
    }

  protected:
    [[nodiscard]] const Context& context() const noexcept { return context_; }
    template <class T>
    [[nodiscard, gnu::always_inline]] F& function_for(message::Hashed<T>& arrived) {
        return table_
            .find_or_make(std::invoke(key_of_, std::as_const(arrived.record)), arrived.hash,
                          [this]() -> const F& { return prototype_; })
            .second;
    }

  private:
    F prototype_;
    KeyOf key_of_;
    Context context_;
    KeyTable<K, F> table_;
};

/// What a keyed accumulation holds: `Fold` is called as `fold(state, record)`.
template <class State, class Fold, class KeyOf, class K>
class Accumulate {
  public:
    static constexpr bool selective = true;
    static constexpr bool may_skip = true;

    Accumulate(State initial, Fold fold, KeyOf key_of, Emit emit)
        : initial_(std::move(initial)),
          fold_(std::move(fold)),
          key_of_(std::move(key_of)),
          emit_(emit) {}

    void open(const Context& context) {
        context_ = context;
        if constexpr (requires { fold_.open(context); }) fold_.open(context);
    }
    template <class T>
    [[nodiscard]] std::size_t look_ahead(const message::Hashed<T>* arrived, std::size_t count) {
        return table_.look_ahead(arrived, count, key_of_);
    }

    template <class T, class Next>
    [[gnu::always_inline]] void operator()(message::Hashed<T>& arrived, Next&& next) {
        const auto [key, state] =
            table_.find_or_make(std::invoke(key_of_, std::as_const(arrived.record)), arrived.hash,
                                [this]() -> const State& { return initial_; });
        call(fold_, context_, state, std::as_const(arrived.record));
        if (emit_ == Emit::every_update) {
            Keyed<K, State> update{key, state};
            next(update);
        }
    }

    template <class Next, class Ready>
    bool finish(Next&& next, Ready&& ready) {
        if (emit_ != Emit::at_end) return true;
        if (!position_) position_ = table_.begin();
        for (; *position_ != table_.end(); ++*position_) {
            if (!ready()) return false;
            Keyed<K, State> last{(*position_)->key, (*position_)->value};
            next(last);
        }
        return true;
    }

  private:
    using Table = KeyTable<K, State>;

    State initial_;
    Fold fold_;
    KeyOf key_of_;
    Emit emit_;
    Context context_;
    Table table_;
    std::optional<decltype(std::declval<Table&>().begin())> position_;
};

/// Combines the records of a key pairwise: `T f(const T& so_far, const T& record)`. The first
/// record of a key passes as it is. What is held must own what it points to: a `T` with text
/// fields outlives the batch that the text came with.
template <class T, class F, class KeyOf, class K>
class Reduce {
  public:
    static constexpr bool selective = false;
    static constexpr bool may_skip = true;

    Reduce(F combine, KeyOf key_of) : combine_(std::move(combine)), key_of_(std::move(key_of)) {}

    void open(const Context& context) {
        context_ = context;
        if constexpr (requires { combine_.open(context); }) combine_.open(context);
    }
    [[nodiscard]] std::size_t look_ahead(const message::Hashed<T>* arrived, std::size_t count) {
        return table_.look_ahead(arrived, count, key_of_);
    }

    template <class Next>
    void operator()(message::Hashed<T>& arrived, Next&& next) {
        auto& held = table_
                         .find_or_make(std::invoke(key_of_, std::as_const(arrived.record)),
                                       arrived.hash, [] { return std::optional<T>{}; })
                         .second;
        if (held) {
            held = call(combine_, context_, std::as_const(*held), std::as_const(arrived.record));
        } else {
            held = arrived.record;
        }
        T update = *held;
        next(update);
    }

  private:
    F combine_;
    KeyOf key_of_;
    Context context_;
    KeyTable<K, std::optional<T>> table_;
};

}  // namespace operators
}  // namespace strid
