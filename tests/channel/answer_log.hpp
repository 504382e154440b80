// SPDX-License-Identifier: Apache-2.0
//
// Shared by the interleaving tests of the channels: a record of the results that each thread got,
// and the properties of a right record.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <strid/channel/result.hpp>

#include "interleaving.hpp"

namespace strid::test {

using channel::PopResult;
using channel::PushResult;

/// One thread's record of its results.
struct Log {
    std::vector<int> values;  // accepted, or taken
    std::string answers;      // o, f, e, c
};

inline char letter(PushResult result) {
    return result == PushResult::ok ? 'o' : result == PushResult::full ? 'f' : 'c';
}
inline char letter(PopResult result) {
    return result == PopResult::ok ? 'o' : result == PopResult::empty ? 'e' : 'c';
}

template <class Push>
void push_logged(Log& log, int value, Push push) {
    const PushResult result = push(Watched(value));
    log.answers += letter(result);
    if (result == PushResult::ok) log.values.push_back(value);
}

template <class Pop>
PopResult pop_logged(Log& log, Pop pop) {
    Watched item;
    const PopResult result = pop(item);
    log.answers += letter(result);
    if (result == PopResult::ok) log.values.push_back(item.get());
    return result;
}

/// A right log of pops: nothing follows `closed`.
inline bool closed_is_last(const std::string& answers) {
    const auto first = answers.find('c');
    return first == std::string::npos || answers.find_first_not_of('c', first) == std::string::npos;
}

struct Coverage {
    std::set<std::string> pushes;
    std::set<std::string> pops;
    [[nodiscard]] static bool any(const std::set<std::string>& all, char answer) {
        return std::any_of(all.begin(), all.end(), [answer](const std::string& answers) {
            return answers.find(answer) != std::string::npos;
        });
    }
};

}  // namespace strid::test
