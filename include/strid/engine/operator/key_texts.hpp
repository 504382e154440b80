// SPDX-License-Identifier: Apache-2.0
//
// Texts of keys. A key with text refers to the batch of its record. An operator's state by that key
// outlives the batch, so the operator keeps a copy of the text: for the run (KeyTexts), or until
// the key expires and no sent record refers to the text any more (EpochKeyTexts).
//
// Threads: only the task of the node.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/hash.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/memory/epoch_text_pool.hpp>
#include <strid/memory/static_arena.hpp>

namespace strid::operators {

namespace detail {

/// Whether a key refers to text of its batch, and can be made anew with a copy of the text.
template <class K>
struct KeyText {
    static constexpr bool value() {
        if constexpr (points_to_text<K> && strid::detail::has_members<K> &&
                      !strid::detail::has_std_hash<K>) {
            return any(strid::detail::MembersOf<K>{});
        } else {
            return std::is_same_v<K, std::string_view>;
        }
    }

  private:
    template <class... Parts>
    static constexpr bool any(strid::detail::MemberList<Parts...>) {
        return (KeyText<Parts>::value() || ...) && (!std::is_array_v<Parts> && ...);
    }
};
template <class... Parts>
struct KeyText<std::tuple<Parts...>> {
    static constexpr bool value() { return (KeyText<Parts>::value() || ...); }
};
template <class First, class Second>
struct KeyText<std::pair<First, Second>> : KeyText<std::tuple<First, Second>> {};
template <class Part, std::size_t size>
struct KeyText<std::array<Part, size>> : KeyText<Part> {};

}  // namespace detail

template <class K>
inline constexpr bool key_holds_text = detail::KeyText<K>::value();

/// The key with `copy(text)` in place of each of its texts.
template <class K, class Copy>
[[nodiscard]] K with_texts(const K& key, const Copy& copy) {
    if constexpr (!key_holds_text<K>) {
        return key;
    } else if constexpr (std::is_same_v<K, std::string_view>) {
        return copy(key);
    } else {
        const auto of_parts = [&](const auto&... parts) { return K{with_texts(parts, copy)...}; };
        if constexpr (strid::detail::is_tuple_like<K>) {
            return std::apply(of_parts, key);
        } else {
            return strid::detail::visit_members(key, of_parts);
        }
    }
}

/// Copies that live as long as this object (that is: the run).
class KeyTexts {
  public:
    /// The key itself if it holds no text. May throw std::bad_alloc.
    template <class K>
    [[nodiscard]] K own(const K& key) {
        return with_texts(key, [this](std::string_view text) { return arena().intern(text); });
    }
    /// Bytes of the copies.
    [[nodiscard]] std::size_t bytes() const noexcept { return arena_ ? arena_->bytes_held() : 0; }

  private:
    memory::StaticArena& arena() {
        constexpr std::size_t region_bytes = std::size_t{64} << 10;
        if (!arena_) {
            arena_ = std::make_unique<memory::StaticArena>(memory::StaticArena::Options{
                .capacity_bytes = region_bytes, .growth_bytes = region_bytes});
        }
        return *arena_;
    }

    std::unique_ptr<memory::StaticArena> arena_;  // none before the first text
};

/// Copies that go with their keys (engine/memory/epoch_text_pool.hpp).
class EpochKeyTexts {
  public:
    EpochKeyTexts() : texts_(std::make_unique<memory::EpochTextPool>()) {}
    /// Operators are copied as prototypes, before their first record: a copy starts empty too.
    EpochKeyTexts(const EpochKeyTexts& prototype) : EpochKeyTexts() {
        STRID_ASSERT(prototype.texts_->held() == 0);
    }
    EpochKeyTexts(EpochKeyTexts&&) noexcept = default;
    EpochKeyTexts& operator=(EpochKeyTexts&&) noexcept = default;
    ~EpochKeyTexts() = default;

    /// May throw std::bad_alloc.
    template <class K>
    [[nodiscard]] K own(const K& key) {
        return with_texts(key, [this](std::string_view text) {
            bytes_ += text.size();
            return texts_->keep(text);
        });
    }
    /// Bytes of the texts of live keys.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// No record sent from now on refers to the texts of this key, which own() returned.
    template <class K>
    void retire(const K& key) {
        (void)with_texts(key, [this](std::string_view text) {
            bytes_ -= text.size();
            texts_->retire(text);
            return text;
        });
    }
    /// No record that was sent refers to them either.
    template <class K>
    void free(const K& key) {
        (void)with_texts(key, [this](std::string_view text) {
            bytes_ -= text.size();
            texts_->free(text);
            return text;
        });
    }
    /// The copies that the records sent from now on refer to.
    [[nodiscard]] memory::EpochTextPool& pool() noexcept { return *texts_; }

  private:
    std::unique_ptr<memory::EpochTextPool> texts_;
    std::size_t bytes_ = 0;
};

}  // namespace strid::operators
