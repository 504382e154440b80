// SPDX-License-Identifier: Apache-2.0
//
// The number of a member of an aggregate that a pointer to a member names. Compile time only.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include <strid/engine/base/members.hpp>

namespace strid::memory::detail {

template <class Record>
struct Named {
    Record record;
};
/// An object that is never defined: of its members only addresses are compared.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class Record>
extern const Named<Record> named;

template <class Record, class Member>
consteval std::size_t index_of(Member Record::*member) {
    return strid::detail::visit_members(named<Record>.record, [member](const auto&... each) {
        std::size_t index = 0;
        std::size_t at = 0;
        const auto compare = [&]<class Each>(const Each& one) {
            if constexpr (std::is_same_v<Each, std::remove_cv_t<Member>>) {
                if (std::addressof(one) == std::addressof(named<Record>.record.*member)) index = at;
            }
            ++at;
        };
        (compare(each), ...);
        return index;
    });
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

}  // namespace strid::memory::detail
