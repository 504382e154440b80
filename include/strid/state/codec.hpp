// SPDX-License-Identifier: Apache-2.0
//
// How a type of state becomes bytes and comes back:
//
//     StateWriter writer{receiver};
//     state::save(writer, table);
//     ...
//     StateReader reader{bytes};
//     state::load(reader, table);
//
// These types have a codec:
//
// - numbers, enumerations, and trivially copyable classes, by their bytes;
// - std::string, std::vector, std::deque, std::array, std::optional, std::variant, std::pair,
//   std::tuple, std::unique_ptr, and sets and maps, ordered or hashed, of types with a codec;
// - aggregates whose members have one (at most 20 members, without a base);
// - classes with `auto state()`, by what it names (operator/contract.hpp);
// - classes with `void save(StateWriter&) const` and `void load(StateReader&)`, which are preferred
//   to all of the above; and classes of the user for which two functions do this, found beside the
//   class:
//
//       void save_state(strid::StateWriter& writer, const Mine& mine);
//       void load_state(strid::StateReader& reader, Mine& mine);
//
// A type that is, or visibly contains, a pointer, a reference or a view of text has none: its bytes
// mean nothing in another process. Private members and the captures of a lambda cannot be seen.
//
// A value is loaded into an object that was made with the same arguments as the saved one, so that
// what is configuration, and no state, is there already. If load() throws, the object may be
// destroyed and nothing else.
//
// **A type that changes.** An aggregate with members more or less than in the version of the
// program that stored it names the earlier one, and how to go on from it:
//
//     struct Total {
//         std::int64_t sum = 0;
//         double mean = 0;  // new
//         using saved_before = TotalOfRelease1;  // the old members, under another name
//         void go_on_from(const TotalOfRelease1& before) { sum = before.sum; }
//     };
//
// The earlier one may name one that was before it in turn. By the members that were stored
// (layouts) it is found which of them the values are of.
//
// Complexity: O(bytes). Threads: those of the objects. Paper 5 ("save and restart").
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include <strid/engine/base/members.hpp>
#include <strid/engine/base/type_name.hpp>
#include <strid/engine/state/codec_containers.hpp>
#include <strid/engine/state/codec_kinds.hpp>
#include <strid/state/bytes.hpp>

namespace strid {

/// A source file whose graphs are all to take snapshots specialises it in front of them, and a
/// state without a codec, or an operator that takes no snapshots for another reason, does not
/// compile there:
///
///     template <>
///     inline constexpr bool strid::requires_snapshots<> = true;
///
/// All source files of a program that have the same graph must agree.
template <class Program = void>
inline constexpr bool requires_snapshots = false;

namespace state {

/// Throws StateError: the earlier version of a value was loaded, and `go_on_from` threw.
[[noreturn]] void refuse_migration(const std::string& type, const char* reason);

/// Whether the type has a codec.
template <class T>
consteval bool has_codec() {
    return Codec<T>::exists();
}

/// The bytes that mean the value: gaps between members are left out.
template <class T>
void save(StateWriter& writer, const T& value) {
    static_assert(has_codec<T>(), "a state without a codec (strid/state/codec.hpp)");
    if constexpr (SavesItself<T>) {
        value.save(writer);
    } else if constexpr (SavedByUser<T>) {
        save_state(writer, value);
    } else if constexpr (NamesItsState<T>) {
        // state() names the members in order to change them; saving does not.
        const auto states = const_cast<T&>(value).state();
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (save(writer, std::as_const(std::get<I>(states))), ...);
        }(std::make_index_sequence<std::tuple_size_v<decltype(states)>>{});
    } else if constexpr (std::is_empty_v<T>) {
        (void)writer;
    } else if constexpr (std::is_array_v<T>) {
        for (const auto& element : value) save(writer, element);
    } else if constexpr (is_bytes<T>() && (is_dense<T> || !strid::detail::has_members<T>)) {
        writer.bytes(std::as_bytes(std::span(&value, 1)));
    } else if constexpr (is_of<T, std::tuple> || is_of<T, std::pair>) {
        std::apply([&](const auto&... parts) { (save(writer, parts), ...); }, value);
    } else if constexpr (is_of<T, std::variant>) {
        if (value.valueless_by_exception()) throw StateError("a variant without a value is saved");
        writer.length(value.index());
        std::visit([&](const auto& chosen) { save(writer, chosen); }, value);
    } else if constexpr (is_of<T, std::optional> || is_of<T, std::unique_ptr>) {
        writer.length(value ? 1 : 0);
        if (value) save(writer, *value);
    } else if constexpr (Map<T>) {
        writer.length(value.size());
        for (const auto& [key, mapped] : value) {
            save(writer, key);
            save(writer, mapped);
        }
    } else if constexpr (Associative<T>) {
        writer.length(value.size());
        for (const auto& key : value) save(writer, key);
    } else if constexpr (Sequence<T>) {
        save_sequence(writer, value);
    } else if constexpr (is_array<T>) {
        for (const auto& element : value) save(writer, element);
    } else {
        strid::detail::visit_members(value,
                                     [&](const auto&... members) { (save(writer, members), ...); });
    }
}

/// Loads an aggregate, member by member. Throws StateError.
template <class T>
void load_members(StateReader& reader, T& value) {
    strid::detail::visit_members(value, [&](auto&... members) { (load(reader, members), ...); });
}

/// Loads a value that was stored `versions` versions of its type ago.
template <class T>
[[gnu::cold]] void load_earlier(StateReader& reader, T& value, std::size_t versions) {
    if constexpr (Migrates<T>) {
        if (versions == 0) return load_members(reader, value);
        typename T::saved_before before{};
        load_earlier(reader, before, versions - 1);
        try {
            value.go_on_from(std::as_const(before));
        } catch (const std::exception& error) {
            refuse_migration(type_name<T>(), error.what());
        }
    } else {
        load(reader, value);
    }
}

/// Loads a value that save() wrote. Throws StateError.
template <class T>
void load(StateReader& reader, T& value) {
    static_assert(has_codec<T>(), "a state without a codec (strid/state/codec.hpp)");
    if constexpr (Migrates<T>) {
        const std::size_t versions = reader.version_of(typeid(T));
        if (versions != 0) return load_earlier(reader, value, versions);
    }
    if constexpr (SavesItself<T>) {
        reader.nested([&] { value.load(reader); });
    } else if constexpr (SavedByUser<T>) {
        reader.nested([&] { load_state(reader, value); });
    } else if constexpr (NamesItsState<T>) {
        auto states = value.state();
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (load(reader, std::get<I>(states)), ...);
        }(std::make_index_sequence<std::tuple_size_v<decltype(states)>>{});
    } else if constexpr (std::is_empty_v<T>) {
        (void)reader;
    } else if constexpr (std::is_array_v<T>) {
        for (auto& element : value) load(reader, element);
    } else if constexpr (std::is_same_v<T, bool>) {
        std::uint8_t byte = 0;
        load(reader, byte);
        if (byte > 1) reader.refuse("is neither true nor false");
        value = byte != 0;
    } else if constexpr (is_bytes<T>() && (is_dense<T> || !strid::detail::has_members<T>)) {
        std::memcpy(static_cast<void*>(&value), reader.bytes(sizeof(T)).data(), sizeof(T));
    } else if constexpr (is_of<T, std::tuple> || is_of<T, std::pair>) {
        std::apply([&](auto&... parts) { (load(reader, parts), ...); }, value);
    } else if constexpr (is_of<T, std::variant>) {
        load_variant(reader, value, reader.choice(std::variant_size_v<T>));
    } else if constexpr (is_of<T, std::optional>) {
        value.reset();
        if (reader.choice(2) == 1) value.emplace(loaded<typename T::value_type>(reader));
    } else if constexpr (is_of<T, std::unique_ptr>) {
        value.reset();
        if (reader.choice(2) == 0) return;
        value.reset(new typename T::element_type{});
        reader.nested([&] { load(reader, *value); });
    } else if constexpr (Associative<T>) {
        load_associative(reader, value);
    } else if constexpr (Sequence<T>) {
        reader.nested([&] { load_sequence(reader, value); });
    } else if constexpr (is_array<T>) {
        for (auto& element : value) load(reader, element);
    } else {
        load_members(reader, value);
    }
}

/// A value of the type, loaded. Throws StateError.
template <class T>
[[nodiscard]] T loaded(StateReader& reader) {
    static_assert(std::is_default_constructible_v<T>,
                  "an element of a saved container is made by its default constructor");
    T value{};
    load(reader, value);
    return value;
}

/// All bytes of a value.
template <class T>
[[nodiscard]] std::vector<std::byte> bytes_of(const T& value) {
    StateBytes bytes;
    StateWriter writer{bytes};
    save(writer, value);
    writer.flush();
    return bytes.take();
}

}  // namespace state
}  // namespace strid
