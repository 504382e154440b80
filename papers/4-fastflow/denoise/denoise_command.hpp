// SPDX-License-Identifier: Apache-2.0
//
// The command line of strid denoise. Plain values; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "added_noise.hpp"
#include "denoiser.hpp"
#include "frame_run.hpp"
#include "tools/common/worker_options.hpp"
#include "yuv_frames.hpp"

namespace CLI {
class App;
}

namespace strid::denoise {

struct DenoiseCommand {
    std::vector<std::string> inputs = {};
    std::string output = "-";
    std::string reference = {};
    RawShape raw = {};
    bool has_pixel = false;
    DenoiseOptions options = {};
    std::size_t iterations = 0;  ///< Fixed; 0: until it converges.
    std::optional<double> noise_share = {};
    std::optional<std::uint64_t> noise_seed = {};
    int compression = 6;
    int quality = 95;  ///< Of JPEG.
    std::uint64_t pixels_max = std::uint64_t{1} << 27;
    tool::WorkerOptions workers = {};
    bool verbose = false;
    bool quiet = false;
};

void add_denoise_options(CLI::App& app, DenoiseCommand& command);
/// Opens what is to be read and prepares what is to be written. Throws GraphError,
/// InputOutputError.
[[nodiscard]] FrameJob make_job(const DenoiseCommand& command,
                                const tool::Interruption& interruption);

}  // namespace strid::denoise
