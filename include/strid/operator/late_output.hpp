// SPDX-License-Identifier: Apache-2.0
//
// What leaves an operator that knows which records are late: results, and the late records besides
// where these have a way of their own. Both then travel as one stream of variants, until
// graph/alternatives.hpp parts them.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace strid::operators {

template <class Result, class T, bool keeps_late>
struct LateOutput {
    using Record = std::conditional_t<keeps_late, std::variant<Result, T>, Result>;

    template <class Next>
    static void result(Next&& next, Result result) {
        if constexpr (keeps_late) {
            Record record{std::in_place_index<0>, std::move(result)};
            next(record);
        } else {
            next(result);
        }
    }
    template <class Next>
    static void late(Next&& next, const T& late) {
        if constexpr (keeps_late) {
            Record record{std::in_place_index<1>, late};
            next(record);
        }
    }
};

}  // namespace strid::operators
