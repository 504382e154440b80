// SPDX-License-Identifier: Apache-2.0
#include "frame_work.hpp"

#include <new>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "quality.hpp"

namespace strid::denoise {

namespace {

std::string plane_text(const std::string& name, std::size_t number, const PlaneReport& report,
                       const RestorationOptions& options) {
    if (report.left_alone) {
        return fmt::format(
            "{}: plane {}: black and white, where noise looks as what is drawn: left as it is "
            "(--force)\n",
            name, number + 1);
    }
    const Restoration& done = report.restoration;
    const double share =
        100 * static_cast<double>(report.noisy) / static_cast<double>(report.samples);
    std::string text = fmt::format("{}: plane {}: {} of {} samples are noise ({:.2f} %)", name,
                                   number + 1, report.noisy, report.samples, share);
    if (done.iterations != 0) {
        text += fmt::format(", {} iterations, the last one changes {:.6f} on average",
                            done.iterations, done.change);
    }
    if (!done.converged && options.tolerance > 0) text += ", not converged";
    return text + '\n';
}

}  // namespace

std::string quality_text(double mse, unsigned sample_max) {
    return fmt::format("PSNR {:.4f} dB, MSE {:.4f}", peak_signal_to_noise_ratio(mse, sample_max),
                       mse);
}

void FrameWorker::process(Work& work, const Loop& loop) const noexcept {
    const auto fail = [&work](const std::string& what) {
        work.failure = std::make_exception_ptr(InputOutputError(work.frame.name + ": " + what));
    };
    try {
        // Asked before each loop: many times a second.
        decode_and_encode(work, [&](std::size_t blocks, const Block& block) {
            if (interrupted->load(std::memory_order_relaxed)) throw Interrupted();
            loop(blocks, block);
        });
    } catch (const Error& error) {
        fail(error.what());
    } catch (const std::bad_alloc&) {
        fail("not enough memory for it");
    } catch (...) {
        work.failure = std::current_exception();
    }
}

void FrameWorker::decode_and_encode(Work& work, const Loop& loop) const {
    Picture picture = format->decode(work.frame, loop);
    std::optional<Picture> reference;
    if (work.reference) {
        reference = reference_format->decode(*work.reference, loop);
        const double mse = mean_squared_error(picture, *reference, loop);
        work.quality = {.mse_before = mse, .sample_max = picture.sample_max};
    }
    if (added_noise) {
        add_noise(picture, *added_noise, work.frame.number, loop);
    } else {
        const auto reports = remove_noise(picture, options, loop);
        for (std::size_t i = 0; i < reports.size(); ++i) {
            if (!verbose && !reports[i].left_alone) continue;
            work.report += plane_text(work.frame.name, i, reports[i], options.restoration);
        }
    }
    if (reference) {
        work.quality->mse = mean_squared_error(picture, *reference, loop);
        work.report += fmt::format("{}: {} (before: {})\n", work.frame.name,
                                   quality_text(work.quality->mse, picture.sample_max),
                                   quality_text(work.quality->mse_before, picture.sample_max));
        work.reference.reset();
    }
    work.bytes = format->encode(picture, work.frame, loop);
    work.frame.bytes = {};
}

}  // namespace strid::denoise
