// SPDX-License-Identifier: Apache-2.0
//
// The layouts of the aggregates in a type of state, as text. The name of a type stays when its
// members change; by its layout a state that was stored before is recognised as another.
//
// An aggregate is found as the type itself, as a member, as an argument of a class template, as the
// value_type of a container, and in what state() names. The bytes of a class with a codec of its
// own are that class's affair: of it only the arguments and the value_type are looked at. Of an
// aggregate with a base or more than 20 members the text has the size. Not seen: the names of
// members, private members, and arguments of other templates that take values as well.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include <strid/engine/base/members.hpp>
#include <strid/engine/base/type_name.hpp>
#include <strid/engine/state/codec_kinds.hpp>

namespace strid::state {

class Layouts {
  public:
    /// Appends `name{types of the members}` for each aggregate in T that was not met before.
    template <class T>
    [[gnu::cold]] void add() {
        if constexpr (std::is_array_v<T>) {
            add<std::remove_all_extents_t<T>>();
        } else if constexpr (std::is_class_v<T> && requires { sizeof(T); }) {
            if (!met_.insert(typeid(T)).second) return;
            add_arguments(std::type_identity<T>{});
            if constexpr (requires { typename T::value_type; }) add<typename T::value_type>();
            if constexpr (SavesItself<T> || SavedByUser<T>) {
                return;
            } else if constexpr (NamesItsState<T>) {
                add_arguments(std::type_identity<decltype(std::declval<T&>().state())>{});
            } else if constexpr (!is_array<T> && strid::detail::has_members<T>) {
                add_members<T>(strid::detail::MembersOf<T>{});
            } else if constexpr (std::is_aggregate_v<T> && !std::is_empty_v<T> && !is_array<T>) {
                add_bytes(type_name<T>(), sizeof(T));  // of too many members, or with a base
            }
        }
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    template <template <class...> class Template, class... Arguments>
    void add_arguments(std::type_identity<Template<Arguments...>>) {
        (add<std::remove_cvref_t<Arguments>>(), ...);
    }
    template <class T>
    void add_arguments(std::type_identity<T>) {}

    template <class T, class... Members>
    void add_members(strid::detail::MemberList<Members...>) {
        add_aggregate(type_name<T>(), {&type_name<Members>()...});
        (add<Members>(), ...);
    }
    void add_bytes(const std::string& name, std::size_t bytes);
    void add_aggregate(const std::string& name, const std::vector<const std::string*>& members);

    std::set<std::type_index> met_;
    std::string text_;
};

}  // namespace strid::state
