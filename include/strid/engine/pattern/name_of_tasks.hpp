// SPDX-License-Identifier: Apache-2.0
//
// The type of a pattern's tasks as the program names it: without the tags that go along with them.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include <strid/engine/base/type_name.hpp>
#include <strid/engine/pattern/tagged.hpp>
#include <strid/pattern/description.hpp>
#include <strid/pattern/task_type.hpp>

namespace strid::pattern::detail {

template <class T>
struct WithoutTag {
    using type = T;
};
template <class T, class Tag>
struct WithoutTag<Tagged<T, Tag>> : WithoutTag<T> {};

/// Empty for no tasks.
template <class T>
[[nodiscard]] std::string name_of_tasks() {
    if constexpr (std::is_void_v<T> || std::same_as<T, Nothing>) {
        return {};
    } else {
        return type_name<typename WithoutTag<T>::type>();
    }
}

}  // namespace strid::pattern::detail
