// SPDX-License-Identifier: Apache-2.0
//
// The unwinder of the trace, in a library of its own that is preloaded only where stacks are asked
// for. Any thread, also in a signal handler: libunwind takes its memory from the kernel.
#define UNW_LOCAL_ONLY
#include <libunwind.h>

extern "C" [[gnu::visibility("default")]] int strid_trace_backtrace(void** frames, int frames_max) {
    return unw_backtrace(frames, frames_max);
}
