// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a run may end, in turn.
#pragma once

#include <strid/strid.hpp>

namespace strid::test {

/// Stops the run, cancels it, waits for its end, or drops it while it runs, by the number of the
/// round; returns when it is over.
inline void end_in_turn(Running running, int round) {
    switch (round % 4) {
        case 0:
            running.stop();
            break;
        case 1:
            running.cancel();
            break;
        case 2:
            running.wait();
            break;
        default:
            break;
    }
}

}  // namespace strid::test
