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
// Complexity: O(bytes). Threads: those of the objects. Paper 5 ("save and restart").
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <strid/engine/base/members.hpp>
#include <strid/state/bytes.hpp>

namespace strid {

namespace state {

template <class T, template <class...> class Template>
inline constexpr bool is_of = false;
template <template <class...> class Template, class... Arguments>
inline constexpr bool is_of<Template<Arguments...>, Template> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t size>
inline constexpr bool is_array<std::array<T, size>> = true;

/// A set or a map.
template <class T>
concept Associative = requires(T& table, typename T::key_type key) {
    typename T::value_type;
    table.size();
    table.clear();
    table.find(key);
    table.begin();
};
template <class T>
concept Map = Associative<T> && requires { typename T::mapped_type; };

template <class T>
concept IsTuple = is_of<T, std::tuple>;

template <class T>
concept SavesItself = requires(T& value, StateWriter& writer, StateReader& reader) {
    std::as_const(value).save(writer);
    value.load(reader);
};
template <class T>
concept NamesItsState = requires(T& value) {
    { value.state() } -> IsTuple;
};

/// Two functions of the user, found by their argument.
template <class T>
concept SavedByUser = requires(const T& saved, T& loaded, StateWriter& writer,
                               StateReader& reader) {
    save_state(writer, saved);
    load_state(reader, loaded);
};

/// It refers to elements that lie elsewhere.
template <class T>
concept View = is_of<T, std::basic_string_view> || is_of<T, std::reference_wrapper> ||
               (!is_array<T> && requires(const T& view) {
                   view.data();
                   view.size();
               });

/// A class whose value is its bytes, as far as the compiler can see.
template <class T>
consteval bool is_bytes() {
    if constexpr (std::is_pointer_v<T> || std::is_reference_v<T> || std::is_member_pointer_v<T> ||
                  std::is_same_v<T, std::nullptr_t> || View<T> ||
                  !std::is_trivially_copyable_v<T>) {
        return false;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        return true;
    } else if constexpr (std::is_array_v<T>) {
        return is_bytes<std::remove_all_extents_t<T>>();
    } else if constexpr (is_array<T>) {
        return is_bytes<typename T::value_type>();
    } else if constexpr (strid::detail::has_members<T>) {
        return []<class... Members>(strid::detail::MemberList<Members...>) {
            return (is_bytes<Members>() && ...);
        }(strid::detail::MembersOf<T>{});
    } else {
        return std::is_class_v<T> && !is_of<T, std::optional> && !is_of<T, std::variant> &&
               !is_of<T, std::tuple> && !is_of<T, std::pair>;
    }
}

template <class T>
concept Sequence = is_of<T, std::vector> || is_of<T, std::deque> || is_of<T, std::basic_string>;

/// Whether a type has a codec. A type within itself, such as a tree, is asked about once: `Seen` are
/// those whose answer is being found.
template <class T, class... Seen>
struct Codec {
    template <class Part>
    static consteval bool of() {
        return Codec<std::remove_cvref_t<Part>, T, Seen...>::exists();
    }
    template <template <class...> class List, class... Parts>
    static consteval bool of_all(std::type_identity<List<Parts...>>) {
        return (of<Parts>() && ...);
    }

    static consteval bool exists() {
        if constexpr ((std::is_same_v<T, Seen> || ...) || SavesItself<T> || SavedByUser<T>) {
            return true;
        } else if constexpr (NamesItsState<T>) {
            return of_all(std::type_identity<decltype(std::declval<T&>().state())>{});
        } else if constexpr (is_bytes<T>()) {
            return true;
        } else if constexpr (is_of<T, std::tuple> || is_of<T, std::pair> ||
                             is_of<T, std::variant>) {
            return of_all(std::type_identity<T>{});
        } else if constexpr (Map<T>) {
            return of<typename T::key_type>() && of<typename T::mapped_type>() &&
                   std::is_default_constructible_v<typename T::key_type> &&
                   std::is_default_constructible_v<typename T::mapped_type>;
        } else if constexpr (Associative<T> || Sequence<T> || is_of<T, std::optional>) {
            return of<typename T::value_type>() &&
                   std::is_default_constructible_v<typename T::value_type>;
        } else if constexpr (is_array<T>) {
            return of<typename T::value_type>();
        } else if constexpr (is_of<T, std::unique_ptr>) {
            using Owned = typename T::element_type;
            return !std::is_array_v<Owned> && !std::is_polymorphic_v<Owned> && of<Owned>() &&
                   std::is_default_constructible_v<Owned>;
        } else if constexpr (std::is_array_v<T>) {
            return of<std::remove_all_extents_t<T>>();
        } else if constexpr (strid::detail::has_members<T>) {
            return of_all(std::type_identity<strid::detail::MembersOf<T>>{});
        } else {
            return std::is_empty_v<T>;
        }
    }
};

/// Whether the type has a codec.
template <class T>
consteval bool has_codec() {
    return Codec<T>::exists();
}

/// Bytes without a gap: an array of such values is written at once.
template <class T>
inline constexpr bool is_dense =
    is_bytes<T>() && !SavesItself<T> && !SavedByUser<T> && !NamesItsState<T> &&
    (std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>) &&
    !std::is_same_v<T, bool>;

template <class T>
void save(StateWriter& writer, const T& value);
template <class T>
void load(StateReader& reader, T& value);

/// A lower bound of the bytes of a saved value; 0 only of a type that has none.
template <class T>
consteval std::size_t least_bytes() {
    if constexpr (SavesItself<T> || SavedByUser<T>) {
        return 1;
    } else if constexpr (NamesItsState<T>) {
        return []<class... Parts>(std::type_identity<std::tuple<Parts...>>) {
            return (std::size_t{0} + ... + least_bytes<std::remove_cvref_t<Parts>>());
        }(std::type_identity<decltype(std::declval<T&>().state())>{});
    } else if constexpr (std::is_empty_v<T>) {
        return 0;
    } else if constexpr (is_dense<T>) {
        return sizeof(T);
    } else {
        return 1;
    }
}

template <class T>
[[nodiscard]] T loaded(StateReader& reader) {
    static_assert(std::is_default_constructible_v<T>,
                  "an element of a saved container is made by its default constructor");
    T value{};
    load(reader, value);
    return value;
}

template <class T>
void save_sequence(StateWriter& writer, const T& sequence) {
    using Element = typename T::value_type;
    writer.length(sequence.size());
    if constexpr (is_dense<Element> && !is_of<T, std::deque>) {
        writer.bytes(std::as_bytes(std::span(sequence.data(), sequence.size())));
    } else {
        for (const Element& element : sequence) save(writer, element);
    }
}
template <class T>
void load_sequence(StateReader& reader, T& sequence) {
    using Element = typename T::value_type;
    static_assert(least_bytes<Element>() != 0, "a sequence of values without bytes is a number");
    const std::size_t count = reader.length(least_bytes<Element>());
    sequence.clear();
    if constexpr (is_dense<Element> && !is_of<T, std::deque>) {
        const auto bytes = reader.bytes(count * sizeof(Element));
        sequence.resize(count);
        if (count != 0) std::memcpy(sequence.data(), bytes.data(), bytes.size());
    } else {
        for (std::size_t i = 0; i != count; ++i) sequence.push_back(loaded<Element>(reader));
    }
}

template <class T>
void load_associative(StateReader& reader, T& table) {
    const std::size_t count = reader.length(least_bytes<typename T::key_type>());
    table.clear();
    for (std::size_t i = 0; i != count; ++i) {
        auto key = loaded<typename T::key_type>(reader);
        if constexpr (Map<T>) {
            table.emplace(std::move(key), loaded<typename T::mapped_type>(reader));
        } else {
            table.emplace(std::move(key));
        }
    }
    if (table.size() != count) reader.refuse("has a key twice");
}

/// Into the value where it has this alternative, which was made with its arguments.
template <std::size_t I = 0, class... Ts>
void load_variant(StateReader& reader, std::variant<Ts...>& value, std::size_t chosen) {
    if constexpr (I < sizeof...(Ts)) {
        using Chosen = std::variant_alternative_t<I, std::variant<Ts...>>;
        if (chosen != I) {
            load_variant<I + 1>(reader, value, chosen);
        } else if (value.index() == I) {
            load(reader, std::get<I>(value));
        } else if constexpr (std::is_default_constructible_v<Chosen>) {
            value.template emplace<I>(loaded<Chosen>(reader));
        } else {
            reader.refuse("is another alternative than it was made with");
        }
    }
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
        strid::detail::visit_members(value, [&](const auto&... members) {
            (save(writer, members), ...);
        });
    }
}

/// Loads a value that save() wrote. Throws StateError.
template <class T>
void load(StateReader& reader, T& value) {
    static_assert(has_codec<T>(), "a state without a codec (strid/state/codec.hpp)");
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
        strid::detail::visit_members(value, [&](auto&... members) {
            (load(reader, members), ...);
        });
    }
}

}  // namespace state
}  // namespace strid
