// SPDX-License-Identifier: Apache-2.0
//
// How the keys of a table (operator/keyed_state.hpp) become bytes and come back: a key with text by
// its text.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/base/members.hpp>
#include <strid/engine/operator/key_texts.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

/// Whether a key can be saved: it has a codec, or consists of texts and of parts that have one.
template <class K>
consteval bool key_has_codec() {
    if constexpr (std::is_same_v<K, std::string_view>) {
        return true;
    } else if constexpr (!key_holds_text<K>) {
        return state::has_codec<K>();
    } else if constexpr (strid::detail::is_tuple_like<K>) {
        return []<std::size_t... I>(std::index_sequence<I...>) {
            return (key_has_codec<std::tuple_element_t<I, K>>() && ...);
        }(std::make_index_sequence<std::tuple_size_v<K>>{});
    } else {
        return []<class... Parts>(strid::detail::MemberList<Parts...>) {
            return (key_has_codec<Parts>() && ...);
        }(strid::detail::MembersOf<K>{});
    }
}

template <class K>
void save_key(StateWriter& writer, const K& key) {
    if constexpr (std::is_same_v<K, std::string_view>) {
        writer.text(key);
    } else if constexpr (!key_holds_text<K>) {
        state::save(writer, key);
    } else {
        const auto save_parts = [&](const auto&... parts) { (save_key(writer, parts), ...); };
        if constexpr (strid::detail::is_tuple_like<K>) {
            std::apply(save_parts, key);
        } else {
            strid::detail::visit_members(key, save_parts);
        }
    }
}

/// Its texts lie in the bytes of the reader.
template <class K>
[[nodiscard]] K load_key(StateReader& reader) {
    if constexpr (std::is_same_v<K, std::string_view>) {
        return reader.text();
    } else if constexpr (!key_holds_text<K>) {
        return state::loaded<K>(reader);
    } else if constexpr (strid::detail::is_tuple_like<K>) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return K{load_key<std::tuple_element_t<I, K>>(reader)...};
        }(std::make_index_sequence<std::tuple_size_v<K>>{});
    } else {
        return [&]<class... Parts>(strid::detail::MemberList<Parts...>) {
            return K{load_key<Parts>(reader)...};
        }(strid::detail::MembersOf<K>{});
    }
}

template <class K, class State, KeyLife life>
consteval KeyLife life_of_table(const KeyedState<K, State, life>*) {
    return life;
}
/// The options of a table.
template <class Table>
inline constexpr KeyLife life_of = life_of_table(static_cast<const Table*>(nullptr));

/// Whether a table that is saved in slices keeps the order of its keys: states that were saved
/// early then lie behind all others.
template <class Table>
inline constexpr bool has_early_states = life_of<Table>.in_slices && !life_of<Table>.expires;

}  // namespace strid::operators
