// SPDX-License-Identifier: Apache-2.0
//
// The work on one frame: decoded, freed of noise (or given it), compared, encoded. A FrameWorker
// has no state and is shared by all threads; a Work belongs to one at a time.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "added_noise.hpp"
#include "denoiser.hpp"
#include "frame.hpp"

namespace strid::denoise {

struct Quality {
    double mse = 0;
    double mse_before = 0;  ///< Of the input.
    unsigned sample_max = 255;
};

/// A frame on its way through the program.
struct Work {
    Frame frame = {};
    std::optional<Frame> reference = {};
    std::string bytes = {};   ///< The frame as it is to be written.
    std::string report = {};  ///< Whole lines.
    std::optional<Quality> quality = {};
    std::exception_ptr failure = {};  ///< In the place of a result, so that failures keep order.
};

class FrameWorker {
  public:
    std::shared_ptr<const FrameFormat> format = {};
    std::shared_ptr<const FrameFormat> reference_format = {};
    DenoiseOptions options = {};
    std::optional<AddedNoise> added_noise = {};
    bool verbose = false;
    const std::atomic<bool>* interrupted = nullptr;

    /// Throws nothing; what goes wrong is in the work. `loop` may be plain.
    void process(Work& work, const Loop& loop) const noexcept;

  private:
    void decode_and_encode(Work& work, const Loop& loop) const;
};

/// "PSNR 31.1082 dB, MSE 50.3712"
[[nodiscard]] std::string quality_text(double mse, unsigned sample_max);

}  // namespace strid::denoise
