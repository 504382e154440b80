// SPDX-License-Identifier: Apache-2.0
//
// What a stranger's first program looks like to the build system: it includes headers of the
// library and links its compiled part.
#include <iostream>

#include <strid/base/assert.hpp>
#include <strid/channel/spsc_ring.hpp>

int main() {
    strid::channel::SpscRing<int> ring{4};
    for (int value = 1; value <= 3; ++value) {
        const auto answer = ring.try_push(value);
        STRID_ASSERT(answer == strid::channel::PushResult::ok);
    }
    ring.close();
    std::cout << "strid says:";
    int value = 0;
    while (ring.try_pop(value) == strid::channel::PopResult::ok) std::cout << ' ' << value;
    std::cout << '\n';
}
