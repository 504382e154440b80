// SPDX-License-Identifier: Apache-2.0
//
// Names of types as a programmer writes them, for explanations and reports. Pure functions, any
// thread.
#pragma once

#include <string>
#include <typeinfo>

namespace strid {

/// The readable form of a `std::type_info::name()`, without default template arguments and inline
/// namespaces of the standard library: "std::string", "std::vector<Frame>",
/// "std::unique_ptr<Frame>". Unnamed namespaces are left out.
[[nodiscard]] std::string readable_type_name(const char* mangled);

/// The same for `T`, without const and reference. Computed once for each type.
template <class T>
[[nodiscard]] const std::string& type_name() {
    static const std::string name = readable_type_name(typeid(T).name());
    return name;
}

}  // namespace strid
