// SPDX-License-Identifier: Apache-2.0
//
// The answer of a push must be looked at: a dropped refusal would be a lost record.
// error: nodiscard
#include <strid/engine/channel/spsc_ring.hpp>

bool push(strid::channel::SpscRing<int>& ring) {
#ifdef STRID_MUST_NOT_COMPILE
    ring.try_push(1);
    return true;
#else
    return ring.try_push(1) == strid::channel::PushResult::ok;
#endif
}
