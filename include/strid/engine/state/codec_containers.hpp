// SPDX-License-Identifier: Apache-2.0
//
// How containers are saved and loaded (state/codec.hpp), element by element, or at once where the
// elements are bytes without a gap.
//
// Threads: those of the containers.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/state/codec_kinds.hpp>
#include <strid/state/bytes.hpp>

namespace strid::state {

template <class T>
void save(StateWriter& writer, const T& value);
template <class T>
void load(StateReader& reader, T& value);

template <class T>
[[nodiscard]] T loaded(StateReader& reader);

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

}  // namespace strid::state
