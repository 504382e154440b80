// SPDX-License-Identifier: Apache-2.0
//
// The engine's hash of keys. It decides which replica owns a key and where the key is in a state
// table. It is therefore fixed: the same value on every machine, in every build, in every run.
// std::hash guarantees none of that, and is used only for a type that has its own specialisation.
// Multiply-and-fold mixing of 64 by 64 bits, after wyhash (Wang Yi, public domain): every input bit
// affects every output bit, so tables and key groups may use any bits of it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/base/members.hpp>

namespace strid {

namespace detail {

inline constexpr std::uint64_t hash_secret[3] = {0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL,
                                                 0x8ebc6af09c88c6e3ULL};

[[nodiscard]] inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
[[nodiscard]] inline std::uint64_t load_word(const char* from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

[[nodiscard]] inline std::uint64_t hash_of_words(std::uint64_t first, std::uint64_t last,
                                                 std::uint64_t state, std::size_t size) noexcept {
    return fold_multiply(hash_secret[1] ^ size,
                         fold_multiply(first ^ hash_secret[1], last ^ state ^ hash_secret[2]));
}

/// Of more than 16 bytes.
[[nodiscard]] [[gnu::noinline]] inline std::uint64_t hash_many_bytes(const char* data,
                                                                     std::size_t size) noexcept {
    std::uint64_t state = hash_secret[0];
    const char* at = data;
    for (std::size_t left = size; left > 16; left -= 16, at += 16) {
        state = fold_multiply(load_word<std::uint64_t>(at) ^ hash_secret[1],
                              load_word<std::uint64_t>(at + 8) ^ state);
    }
    return hash_of_words(load_word<std::uint64_t>(data + size - 16),
                         load_word<std::uint64_t>(data + size - 8), state, size);
}

/// Most keys are short; for these the hash is a few inlined instructions.
[[nodiscard]] [[gnu::always_inline]] inline std::uint64_t hash_bytes(const char* data,
                                                                     std::size_t size) noexcept {
    if (size > 16) [[unlikely]]
        return hash_many_bytes(data, size);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (size >= 8) {
        first = load_word<std::uint64_t>(data);
        last = load_word<std::uint64_t>(data + size - 8);
    } else if (size >= 4) {
        first = load_word<std::uint32_t>(data);
        last = load_word<std::uint32_t>(data + size - 4);
    } else if (size > 0) {
        first = static_cast<std::uint64_t>(static_cast<unsigned char>(data[0])) << 16 |
                static_cast<std::uint64_t>(static_cast<unsigned char>(data[size / 2])) << 8 |
                static_cast<std::uint64_t>(static_cast<unsigned char>(data[size - 1]));
    }
    return hash_of_words(first, last, hash_secret[0], size);
}

template <class Key>
struct HashableKey;

/// The types that the engine hashes itself: numbers, enumerations, text.
template <class Key>
inline constexpr bool is_simple_key = (std::is_arithmetic_v<Key> || std::is_enum_v<Key> ||
                                       std::is_convertible_v<const Key&, std::string_view>);

/// Whether a type has a std::hash, the user's or the library's.
template <class Key>
inline constexpr bool has_std_hash = requires(const Key& key) {
    { std::hash<Key>{}(key) } -> std::convertible_to<std::size_t>;
};

template <class Key>
inline constexpr bool is_hashable = HashableKey<std::remove_cv_t<Key>>::value();
template <class... Parts>
constexpr bool all_hashable(MemberList<Parts...>) {
    return (is_hashable<Parts> && ...);
}

/// Other types: by their std::hash, or aggregates by their members.
template <class Key>
struct HashableKey {
    static constexpr bool value() {
        if constexpr (is_simple_key<Key> || has_std_hash<Key>) {
            return true;
        } else if constexpr (std::is_array_v<Key>) {
            return is_hashable<std::remove_all_extents_t<Key>>;
        } else if constexpr (has_members<Key>) {
            return all_hashable(MembersOf<Key>{});
        } else {
            return false;
        }
    }
};
template <class Part, std::size_t size>
struct HashableKey<std::array<Part, size>> {
    static constexpr bool value() { return is_hashable<Part>; }
};
template <class... Parts>
struct HashableKey<std::tuple<Parts...>> {
    static constexpr bool value() { return all_hashable(MemberList<Parts...>{}); }
};
template <class First, class Second>
struct HashableKey<std::pair<First, Second>> {
    static constexpr bool value() { return all_hashable(MemberList<First, Second>{}); }
};

template <class Key>
inline constexpr bool is_tuple_like = requires { std::tuple_size<Key>::value; };
template <class Key>
inline constexpr bool is_characters = false;
template <std::size_t size>
inline constexpr bool is_characters<std::array<char, size>> = true;
template <std::size_t size>
inline constexpr bool is_characters<char[size]> = true;

}  // namespace detail

/// The fixed hash of a key: integers, enumerations, floating-point numbers (-0.0 as 0.0), text,
/// arrays, pairs, tuples and aggregates of them; a type with a std::hash by that. O(size of the
/// key). Any thread.
template <class Key>
[[nodiscard]] [[gnu::always_inline]] inline std::uint64_t hash_of(const Key& key) {
    [[maybe_unused]] const auto of_parts = [](const auto&... parts) {
        std::uint64_t hash = detail::hash_secret[2];
        ((hash = detail::fold_multiply(hash ^ hash_of(parts), detail::hash_secret[1])), ...);
        return hash;
    };
    if constexpr (std::is_enum_v<Key>) {
        return hash_of(static_cast<std::underlying_type_t<Key>>(key));
    } else if constexpr (std::is_integral_v<Key>) {
        return detail::fold_multiply(static_cast<std::uint64_t>(key) ^ detail::hash_secret[0],
                                     detail::hash_secret[1]);
    } else if constexpr (std::is_floating_point_v<Key>) {
        const double number = static_cast<double>(key) == 0.0 ? 0.0 : static_cast<double>(key);
        std::uint64_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        return hash_of(bits);
    } else if constexpr (detail::is_characters<Key>) {
        return detail::hash_bytes(std::data(key), std::size(key));
    } else if constexpr (std::is_convertible_v<const Key&, std::string_view>) {
        const std::string_view text = key;
        return detail::hash_bytes(text.data(), text.size());
    } else if constexpr (detail::is_tuple_like<Key>) {
        return std::apply(of_parts, key);
    } else if constexpr (std::is_array_v<Key>) {
        std::uint64_t hash = detail::hash_secret[2];
        for (const auto& part : key) hash = of_parts(hash, part);
        return hash;
    } else if constexpr (detail::has_std_hash<Key>) {
        return hash_of(static_cast<std::uint64_t>(std::hash<Key>{}(key)));
    } else {
        return detail::visit_members(key, of_parts);
    }
}

/// The types that may be keys: `hash_of` accepts them and they compare for equality. A user's type
/// is one if it is an aggregate of keys, or has a std::hash.
template <class Key>
concept Hashable = std::equality_comparable<Key> && detail::is_hashable<Key>;

}  // namespace strid
