// SPDX-License-Identifier: Apache-2.0
//
// Refuses a pointer to a member where a function of a record is taken (base/field.hpp).
#pragma once

#include <type_traits>

namespace strid {

/// Does not compile for a pointer to a member.
template <class F>
consteval void refuse_member_pointer() {
    static_assert(!std::is_member_pointer_v<F>,
                  "a member of a record is named when the program is compiled: field<&Record::x>, "
                  "or between angle brackets as in key_by<&Record::x>() and sum<&Record::x>()");
}

}  // namespace strid
