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
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <strid/engine/base/members.hpp>
#include <strid/engine/base/type_name.hpp>
#include <strid/engine/state/codec_kinds.hpp>

namespace strid::state {

/// By type, how many versions ago its values were stored; types that have not changed are left out.
class StoredVersions {
  public:
    void set(const std::type_info& type, std::size_t version);
    [[nodiscard]] std::size_t of(const std::type_info& type) const;
    [[nodiscard]] bool empty() const noexcept { return versions_.empty(); }

  private:
    struct Stored {
        const std::type_info* type;
        std::size_t version;
    };
    std::vector<Stored> versions_;
};

class Layouts {
  public:
    Layouts() = default;
    /// As the program would write them that has stored this text: a type that has changed since
    /// stands with the members that the text has of it, if it names that version (Migrates).
    explicit Layouts(std::string_view stored) : stored_(stored) {}

    /// Appends `name{types of the members}`, without the numbers of lambdas, for each aggregate in
    /// T that was not met before.
    template <class T>
    [[gnu::cold]] void add() {
        if constexpr (std::is_array_v<T>) {
            add<std::remove_all_extents_t<T>>();
        } else if constexpr (std::is_class_v<T> && requires { sizeof(T); }) {
            if (is_met(typeid(T))) return;
            add_arguments(std::type_identity<T>{});
            if constexpr (requires { typename T::value_type; }) add<typename T::value_type>();
            if constexpr (SavesItself<T> || SavedByUser<T>) {
                return;
            } else if constexpr (NamesItsState<T>) {
                add_arguments(std::type_identity<decltype(std::declval<T&>().state())>{});
            } else if constexpr (!is_array<T> && strid::detail::has_members<T>) {
                add_version<T, T>(0);
            } else if constexpr (std::is_aggregate_v<T> && !std::is_empty_v<T> && !is_array<T>) {
                add_bytes(type_name<T>(), sizeof(T));  // of too many members, or with a base
            }
        }
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] const StoredVersions& versions() const noexcept { return versions_; }

  private:
    /// As T, or an earlier version of it, has them.
    template <class T, class Version>
    void add_version(std::size_t version) {
        if constexpr (Migrates<Version>) {
            const std::string now = layout_of<T>(strid::detail::MembersOf<Version>{});
            if (!stored_.empty() && stored_.find(now) == std::string_view::npos) {
                return add_version<T, typename Version::saved_before>(version + 1);
            }
        }
        if (version != 0) versions_.set(typeid(T), version);
        add_members<T>(strid::detail::MembersOf<Version>{});
    }
    template <template <class...> class Template, class... Arguments>
    void add_arguments(std::type_identity<Template<Arguments...>>) {
        (add<std::remove_cvref_t<Arguments>>(), ...);
    }
    template <class T>
    void add_arguments(std::type_identity<T>) {}

    template <class T, class... Members>
    void add_members(strid::detail::MemberList<Members...> members) {
        text_ += layout_of<T>(members);
        (add<Members>(), ...);
    }
    template <class T, class... Members>
    [[nodiscard]] static std::string layout_of(strid::detail::MemberList<Members...>) {
        return layout(type_name<T>(), {&type_name<Members>()...});
    }
    [[nodiscard]] static std::string layout(const std::string& name,
                                            const std::vector<const std::string*>& members);
    void add_bytes(const std::string& name, std::size_t bytes);
    /// Whether it was asked for the type before.
    [[nodiscard]] bool is_met(const std::type_info& type);

    std::string stored_;
    std::vector<const std::type_info*> met_;
    std::string text_;
    StoredVersions versions_;
};

}  // namespace strid::state
