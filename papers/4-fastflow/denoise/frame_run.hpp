// SPDX-License-Identifier: Apache-2.0
//
// Frames from a source through the workers to a sink, in order. One frame alone is shared by all
// threads (pattern::Team); those of a sequence are offloaded to an ordered farm of sequential
// workers, of which a bounded number is on its way at any time.
//
// The thread that calls reads and writes. Invariants: what is written does not depend on the number
// of workers; when a frame fails, those before it are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "frame.hpp"
#include "frame_sink.hpp"
#include "frame_work.hpp"
#include "tools/common/interruption.hpp"
#include "tools/common/worker_options.hpp"

namespace strid::denoise {

struct FrameJob {
    Frames frames = {};
    Frames references = {};  ///< Without a source: there are none.
    std::unique_ptr<FrameSink> sink = {};
    FrameWorker worker = {};
    tool::WorkerOptions workers = {.count = 1};
    std::uint64_t frames_expected = 0;  ///< For the progress; 0: not known.
    bool quiet = false;
};

/// Throws InputOutputError, Interrupted.
void run_frames(FrameJob& job, const tool::Interruption& interruption);

}  // namespace strid::denoise
