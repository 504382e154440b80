// SPDX-License-Identifier: Apache-2.0
#include "frame_run.hpp"

#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/pattern/accelerator.hpp>
#include <strid/pattern/parallel_for.hpp>

#include "tools/common/progress.hpp"

namespace strid::denoise {

namespace {

using WorkPointer = std::unique_ptr<Work>;
using Status = FrameSource::Status;

class FrameRun {
  public:
    FrameRun(FrameJob& job, const tool::Interruption& interruption)
        : job_(job),
          interruption_(interruption),
          progress_(" frames", job.frames_expected, job.quiet) {
        job_.worker.interrupted = &interruption.requested();
    }

    void run() {
        WorkPointer first = std::make_unique<Work>();
        while (read(*first) == Status::waiting) {
        }
        if (failure_) std::rethrow_exception(failure_);
        const std::string_view header = job_.frames.source->stream_header();
        job_.sink->begin(header, interruption_.requested());
        if (!ended_) {
            WorkPointer second = std::make_unique<Work>();
            const Status status = read(*second);
            if (ended_) {
                run_alone(std::move(first));
            } else {
                if (status != Status::frame) second.reset();
                run_sequence(std::move(first), std::move(second));
            }
        }
        if (failure_) std::rethrow_exception(failure_);
        check_references_end();
        job_.sink->finish(interruption_.requested());
        progress_.clear();
        if (done_ > 1 && job_.references.source) report_all();
    }

  private:
    /// The next frame and the one to compare it with. A fault is reported when the frames before
    /// are written: then the input has ended here.
    Status read(Work& work) {
        interruption_.check();
        Status status = Status::end;
        try {
            status = job_.frames.source->next(work.frame);
            if (status == Status::frame && job_.references.source) read_reference(work);
        } catch (const InputOutputError&) {
            failure_ = std::current_exception();
            status = Status::end;
        }
        ended_ = status == Status::end;
        return status;
    }
    void read_reference(Work& work) {
        work.reference.emplace();
        Status status = Status::waiting;
        while ((status = job_.references.source->next(*work.reference)) == Status::waiting) {
            interruption_.check();
        }
        if (status == Status::end) {
            throw InputOutputError(work.frame.name + ": --reference has no frame for it");
        }
    }
    void check_references_end() {
        if (!job_.references.source) return;
        Frame more;
        Status status = Status::waiting;
        while ((status = job_.references.source->next(more)) == Status::waiting) {
            interruption_.check();
        }
        if (status == Status::frame) {
            throw InputOutputError(more.name + ": --reference has more frames than the input");
        }
    }

    void run_alone(WorkPointer work) {
        if (job_.workers.count == 1) {
            job_.worker.process(*work, run_in_sequence);
        } else {
            pattern::Team team(job_.workers.of_team());
            job_.worker.process(*work, [&team](std::size_t blocks, const Block& block) {
                pattern::parallel_for(team, 0, blocks, block, {.iterations_min = 1});
            });
        }
        write(*work);
    }

    void run_sequence(WorkPointer first, WorkPointer second) {
        const std::size_t in_flight_max = 2 * job_.workers.count + 2;
        const auto process = [worker = &job_.worker](WorkPointer work) {
            worker->process(*work, run_in_sequence);
            return work;
        };
        auto farm = pattern::accelerate<WorkPointer>(
            pattern::named("denoise",
                           pattern::ordered_farm(process, {.workers = job_.workers.count})),
            job_.workers.of_pattern());
        std::size_t in_flight = 0;
        const auto offload = [&](WorkPointer work) {
            if (!work) return;
            farm.offload(std::move(work));
            ++in_flight;
        };
        offload(std::move(first));
        offload(std::move(second));
        while (!ended_) {
            while (auto work = farm.try_result()) {
                write(**work);
                --in_flight;
            }
            if (in_flight == in_flight_max) {
                if (auto work = farm.result()) write(**work);
                --in_flight;
            }
            auto work = std::make_unique<Work>();
            if (read(*work) == Status::frame) offload(std::move(work));
        }
        farm.end();
        while (auto work = farm.result()) write(**work);
    }

    void write(Work& work) {
        if (work.failure) std::rethrow_exception(work.failure);
        job_.sink->write(work.frame, work.bytes, interruption_.requested());
        if (!work.report.empty()) progress_.say(work.report);
        if (work.quality) {
            sum_.mse += work.quality->mse;
            sum_.mse_before += work.quality->mse_before;
            sum_.sample_max = work.quality->sample_max;
        }
        progress_.at(++done_);
    }
    void report_all() {
        const auto frames = static_cast<double>(done_);
        progress_.say(fmt::format("all {} frames: {} (before: {})\n", done_,
                                  quality_text(sum_.mse / frames, sum_.sample_max),
                                  quality_text(sum_.mse_before / frames, sum_.sample_max)));
    }

    FrameJob& job_;
    const tool::Interruption& interruption_;
    tool::Progress progress_;
    std::exception_ptr failure_;
    bool ended_ = false;
    std::uint64_t done_ = 0;
    Quality sum_;
};

}  // namespace

void run_frames(FrameJob& job, const tool::Interruption& interruption) {
    FrameRun(job, interruption).run();
}

}  // namespace strid::denoise
