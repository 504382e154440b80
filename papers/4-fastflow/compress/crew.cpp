// SPDX-License-Identifier: Apache-2.0
#include "crew.hpp"

#include <optional>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/pattern/accelerator.hpp>

namespace strid::compress {

namespace {

// Results for standard output wait for their turn in memory: of so many bytes at most. A file that
// becomes larger is coded once more when its turn has come, without going through memory.
constexpr std::size_t result_bytes_max = std::size_t{16} << 20;
constexpr std::size_t results_per_worker = 4;
constexpr std::size_t files_per_worker = 64;

const OnProgress no_progress = [](std::uint64_t) {};

struct Done {
    const Job* job = nullptr;
    Outcome outcome;
    Bytes result;
    bool is_too_large = false;
};
using DonePointer = std::unique_ptr<Done>;

/// The tools of a worker: its codec and its line of blocks.
struct Bench {
    Codec codec;
    BlocksInTurn line{codec};
};

class FileWorker {
  public:
    FileWorker(const Setting& setting, bool keeps_result)
        : setting_(&setting), keeps_result_(keeps_result) {}

    DonePointer operator()(const Job* job) {
        if (!bench_) bench_ = std::make_shared<Bench>();
        auto done = std::make_unique<Done>();
        done->job = job;
        try {
            run(*done);
        } catch (const MemoryOutput::TooLarge&) {
            done->is_too_large = true;
            bench_->line.discard_all();
        }
        return done;
    }

  private:
    void run(Done& done) {
        if (setting_->options.test) {
            NoOutput nowhere;
            done.outcome = run_job(*done.job, *setting_, bench_->line, &nowhere, no_progress);
        } else if (keeps_result_) {
            MemoryOutput memory(result_bytes_max);
            done.outcome = run_job(*done.job, *setting_, bench_->line, &memory, no_progress);
            done.result = std::move(memory.bytes());
        } else {
            done.outcome = run_job(*done.job, *setting_, bench_->line, nullptr, no_progress);
        }
    }

    const Setting* setting_;
    bool keeps_result_;
    std::shared_ptr<Bench> bench_;  // of this replica alone, made by its first file
};

class Crew {
  public:
    Crew(const Setting& setting, Output* shared, const OnOutcome& on_outcome)
        : setting_(setting),
          shared_(shared),
          on_outcome_(on_outcome),
          files_max_(setting.options.workers.count *
                     (shared != nullptr ? results_per_worker : files_per_worker)),
          accelerator_(pattern::accelerate<const Job*>(
              pattern::named("file",
                             pattern::ordered_farm(FileWorker(setting, shared != nullptr),
                                                   pattern::OnDemand{2},
                                                   {.workers = setting.options.workers.count})),
              setting.options.workers.of_pattern())) {}

    void run(std::span<const Job> jobs) {
        for (const Job& job : jobs) {
            while (inside_ >= files_max_) {
                if (!finish(*accelerator_.result())) return;
            }
            accelerator_.offload(&job);
            ++inside_;
            while (auto done = accelerator_.try_result()) {
                if (!finish(*done)) return;
            }
        }
        accelerator_.end();
        while (auto done = accelerator_.result()) {
            if (!finish(*done)) return;
        }
    }

  private:
    bool finish(const DonePointer& done) {
        --inside_;
        if (done->is_too_large) {
            Bench bench;
            done->outcome = run_job(*done->job, setting_, bench.line, shared_, no_progress);
        } else if (shared_ != nullptr) {
            shared_->write(done->result.view());
        }
        return on_outcome_(*done->job, std::move(done->outcome));
    }

    const Setting& setting_;
    Output* const shared_;
    const OnOutcome& on_outcome_;
    const std::size_t files_max_;
    std::size_t inside_ = 0;
    pattern::Accelerator<const Job*, DonePointer> accelerator_;
};

void run_in_turn(std::span<const Job> jobs, const Setting& setting, Output* shared,
                 const OnOutcome& on_outcome) {
    Bench bench;
    for (const Job& job : jobs) {
        if (!on_outcome(job, run_job(job, setting, bench.line, shared, no_progress))) return;
    }
}

}  // namespace

void run_small_jobs(std::span<const Job> jobs, const Setting& setting, Output* shared,
                    const OnOutcome& on_outcome) {
    if (setting.options.workers.count == 1 || jobs.size() == 1) {
        run_in_turn(jobs, setting, shared, on_outcome);
    } else {
        Crew(setting, shared, on_outcome).run(jobs);
    }
}

}  // namespace strid::compress
