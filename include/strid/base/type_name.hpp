// SPDX-License-Identifier: Apache-2.0
//
// Types as a person writes them, for explanations and reports. Pure functions, any thread.
#pragma once

#include <string>
#include <typeinfo>

namespace strid {

/// The type that a `std::type_info::name()` stands for, without what the standard library adds by
/// itself: "std::string", "std::vector<Frame>", "std::unique_ptr<Frame>". Unnamed namespaces are
/// left out.
[[nodiscard]] std::string readable_type_name(const char* mangled);

/// The same of `T`, without const and reference. Worked out once for each type.
template <class T>
[[nodiscard]] const std::string& type_name() {
    static const std::string name = readable_type_name(typeid(T).name());
    return name;
}

}  // namespace strid
