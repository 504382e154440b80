// SPDX-License-Identifier: Apache-2.0
//
// A member of a record, named when the program is compiled: `field<&Quote::volume>`. It stands
// wherever a function of a record does: as a key, a time or what an aggregate is of. The compiler
// then knows where in the record it lies: the record can stay in registers, and what nobody asks
// for need not be written. A pointer to a member is known only when the program runs, so that the
// whole record would have to lie in memory to be read through it (`keyed_bench`, windows of counts:
// 72 instructions a quote instead of 50 in the source that makes and sends it): it is refused.
//
// A value without state, for any thread.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

namespace strid {

/// The function that takes a member of a record. O(1), throws nothing of its own.
template <auto Member>
    requires std::is_member_pointer_v<decltype(Member)>
struct Field {
    /// The member of `record`, by reference; the result where `Member` is a function.
    template <class T>
        requires std::invocable<decltype(Member), const T&>
    [[gnu::always_inline]] constexpr decltype(auto) operator()(const T& record) const {
        return std::invoke(Member, record);
    }
};

/// `window::sum(field<&Quote::volume>)`, `event_time(field<&Quote::time>, ...)`.
template <auto Member>
inline constexpr Field<Member> field{};

/// Does not compile for a pointer to a member.
template <class F>
consteval void refuse_member_pointer() {
    static_assert(!std::is_member_pointer_v<F>,
                  "a member of a record is named when the program is compiled: field<&Record::x>, "
                  "or between angle brackets as in key_by<&Record::x>() and sum<&Record::x>()");
}

}  // namespace strid
