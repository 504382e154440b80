// SPDX-License-Identifier: Apache-2.0
//
// A member of a record, named at compile time: `field<&Quote::volume>`. It may be used wherever a
// function of a record is taken: for a key, a time, or the input of an aggregate. The compiler
// knows the member's offset, so the record can stay in registers, and members that are not used
// need not be written. A pointer to a member is a run-time value: reading through it needs the
// whole record in memory (`keyed_bench`, windows of counts: 72 instructions a quote instead of 50
// in the source). It is therefore refused.
//
// A value without state, for any thread.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

namespace strid {

/// The function that returns a member of a record. O(1), throws nothing.
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

}  // namespace strid
