// SPDX-License-Identifier: Apache-2.0
//
// State by key: an open-addressing table with the values in place, looked up with the hash that
// the record brought along, and the keyed operators on it.
//
// A key that is text points into the batch that it came with; a state outlives its batch, so the
// table keeps a copy of its own, once per key, for as long as the table lives (that is: the run).
//
// Threads: only the task of the node.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/base/assert.hpp>
#include <strid/base/hash.hpp>
#include <strid/base/prefetch.hpp>
#include <strid/base/text.hpp>
#include <strid/memory/static_arena.hpp>
#include <strid/message/batch.hpp>
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

namespace detail {

/// Whether a key points to text of the batch that it came with.
template <class K>
struct KeyText {
    static constexpr bool held = std::is_same_v<K, std::string_view>;
};
template <class... Parts>
struct KeyText<std::tuple<Parts...>> {
    static constexpr bool held = (KeyText<Parts>::held || ...);
};
template <class First, class Second>
struct KeyText<std::pair<First, Second>> : KeyText<std::tuple<First, Second>> {};

}  // namespace detail

/// Values by key. References to values are valid until the next insertion. Lookup O(1).
template <class K, class V>
class KeyTable {
  public:
    KeyTable() = default;
    /// Operators are copied as prototypes, before their first record: a copy starts empty too.
    KeyTable([[maybe_unused]] const KeyTable& prototype) { STRID_ASSERT(prototype.size() == 0); }
    KeyTable& operator=(const KeyTable&) = delete;

    /// The value of the key, made by `make()` where the key is new. `hash` is `hash_of(key)`.
    /// Inlined: the lookup is most of what a keyed operator does.
    template <class Make>
    [[gnu::always_inline]] std::pair<const K&, V&> find_or_make(const K& key, std::uint64_t hash,
                                                                Make&& make) {
        const auto found = table_.find(Probe{&key, hash});
        if (found != table_.end()) [[likely]]
            return {found->first, found->second};
        return add(key, std::forward<Make>(make));
    }

    /// The value of the key, null where it has none.
    [[nodiscard, gnu::always_inline]] V* find(const K& key, std::uint64_t hash) {
        const auto found = table_.find(Probe{&key, hash});
        return found == table_.end() ? nullptr : &found->second;
    }

    /// The key is gone, and its value with it. A text key stays, with a value as new: those who
    /// hold the key as a result point to its text.
    void forget(const K& key, std::uint64_t hash) {
        const auto found = table_.find(Probe{&key, hash});
        if (found == table_.end()) return;
        if constexpr (holds_text) {
            found->second = V{};
        } else {
            table_.erase(found);
        }
    }

    /// Brings near what the next `count` records, Hashed, will look up. The lookups here do not
    /// wait for each other, so what is missing in the caches comes at once, not record by record.
    /// Does nothing while the table fits there.
    template <class Arrived, class KeyOf>
    void look_ahead(const Arrived* arrived, std::size_t count, const KeyOf& key_of) {
        if (is_near()) [[likely]]
            return;
        for (std::size_t i = 0; i != count; ++i) {
            prefetch_object(find(std::invoke(key_of, arrived[i].record), arrived[i].hash));
        }
    }
    /// It is as large as a cache of its own core at most.
    [[nodiscard]] bool is_near() const noexcept {
        return table_.size() * sizeof(std::pair<K, V>) < (std::size_t{1} << 20);
    }

    [[nodiscard]] std::size_t size() const noexcept { return table_.size(); }
    [[nodiscard]] auto begin() { return table_.begin(); }
    [[nodiscard]] auto end() { return table_.end(); }

  private:
    struct Probe {
        const K* key;
        std::uint64_t hash;
    };
    /// The table places keys by the upper bits of this, and a replica owns the keys of a range of
    /// the hash's upper bits: halves change places, or the keys would crowd in a part of the table.
    struct Hash {
        using is_transparent = void;
        using is_avalanching = void;
        std::size_t operator()(const K& key) const noexcept { return std::rotl(hash_of(key), 32); }
        std::size_t operator()(const Probe& probe) const noexcept {
            return std::rotl(probe.hash, 32);
        }
    };
    struct Equal {
        using is_transparent = void;
        [[gnu::always_inline]] bool operator()(const K& a, const K& b) const {
            if constexpr (std::is_same_v<K, std::string_view>) {
                return same_text(a, b);
            } else {
                return a == b;
            }
        }
        [[gnu::always_inline]] bool operator()(const Probe& a, const K& b) const {
            return (*this)(*a.key, b);
        }
        [[gnu::always_inline]] bool operator()(const K& a, const Probe& b) const {
            return (*this)(a, *b.key);
        }
    };

    template <class Make>
    [[gnu::noinline]] std::pair<const K&, V&> add(const K& key, Make&& make) {
        const auto made = table_.emplace(own(key), make()).first;
        return {made->first, made->second};
    }

    static constexpr bool holds_text = detail::KeyText<K>::held;

    /// The key with text of the table's own.
    template <class Part>
    Part own(const Part& key) {
        if constexpr (!detail::KeyText<Part>::held) {
            return key;
        } else if constexpr (!std::is_same_v<Part, std::string_view>) {
            return std::apply([this](const auto&... parts) { return Part{this->own(parts)...}; },
                              key);
        } else {
            constexpr std::size_t region_bytes = std::size_t{64} << 10;
            if (!texts_) {
                texts_ = std::make_unique<memory::StaticArena>(memory::StaticArena::Options{
                    .capacity_bytes = region_bytes, .growth_bytes = region_bytes});
            }
            return texts_->intern(key);
        }
    }

    std::unique_ptr<memory::StaticArena> texts_;  // the keys' own text; none for other keys
    boost::unordered_flat_map<K, V, Hash, Equal> table_;
};

/// The key function that takes a member of the record.
template <auto Member>
struct MemberKey {
    template <class T>
    decltype(auto) operator()(const T& record) const {
        return std::invoke(Member, record);
    }
};

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
    static constexpr bool looks_ahead = true;

    PerKey(F prototype, KeyOf key_of)
        : prototype_(std::move(prototype)), key_of_(std::move(key_of)) {}

    void open(const Context& context) {
        context_ = context;
        if constexpr (requires { prototype_.open(context); }) prototype_.open(context);
    }
    template <class T>
    void look_ahead(const message::Hashed<T>* arrived, std::size_t count) {
        table_.look_ahead(arrived, count, key_of_);
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
    static constexpr bool looks_ahead = true;

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
    void look_ahead(const message::Hashed<T>* arrived, std::size_t count) {
        table_.look_ahead(arrived, count, key_of_);
    }

    template <class T, class Next>
    void operator()(message::Hashed<T>& arrived, Next&& next) {
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
            Keyed<K, State> last{(*position_)->first, (*position_)->second};
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
    static constexpr bool looks_ahead = true;

    Reduce(F combine, KeyOf key_of) : combine_(std::move(combine)), key_of_(std::move(key_of)) {}

    void open(const Context& context) { context_ = context; }
    void look_ahead(const message::Hashed<T>* arrived, std::size_t count) {
        table_.look_ahead(arrived, count, key_of_);
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
