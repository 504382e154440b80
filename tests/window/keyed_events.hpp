// SPDX-License-Identifier: Apache-2.0
//
// Records of a key, for stages of windows that are called directly, and the functions that read
// them.
#pragma once

#include <cstdint>

#include <strid/base/time.hpp>
#include <strid/window/aggregates.hpp>

namespace strid::test {

struct KeyedEvent {
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
};

struct KeyOf {
    template <class T>
    std::uint32_t operator()(const T& record) const {
        return record.key;
    }
};
struct TimeOf {
    template <class T>
    EventTime operator()(const T& record) const {
        return record.time;
    }
};
struct ValueOf {
    std::int64_t operator()(const KeyedEvent& event) const { return event.value; }
};
using ValueSum = window::Sum<ValueOf, std::int64_t>;

}  // namespace strid::test
