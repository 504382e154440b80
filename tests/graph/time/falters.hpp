// SPDX-License-Identifier: Apache-2.0
//
// A map that sleeps now and then: which of several sources runs ahead is chance behind it.
#pragma once

#include <chrono>
#include <random>
#include <thread>

#include "../../support/seeds.hpp"

namespace strid::test {

struct Falters {
    std::mt19937_64 random{first_seed()};

    template <class Record>
    void operator()(Record&) {
        if (random() % 200 == 0) std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
};

}  // namespace strid::test
