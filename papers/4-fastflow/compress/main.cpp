// SPDX-License-Identifier: Apache-2.0
//
// strid compress and strid decompress: bzip2 in parallel, as paper 4's pbzip2-FF: the main thread
// hands large files block by block to one accelerator, and small files as a whole to another.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <unistd.h>

#include <strid/base/error.hpp>

#include "crew.hpp"
#include "job.hpp"
#include "options.hpp"
#include "planning.hpp"
#include "tools/common/interruption.hpp"
#include "tools/common/progress.hpp"

namespace strid::compress {

namespace {

class Program {
  public:
    Program(const Options& options, const tool::Interruption& interruption, Plan plan)
        : options_(options),
          plan_(std::move(plan)),
          setting_{options, interruption.requested()},
          progress_("B", total(plan_.jobs), options.quiet),
          code_(plan_.code) {
        constexpr std::size_t width_min = 7;  // as bzip2: that of "(stdin)"
        setting_.name_width = width_min;
        for (const std::string& file : options.files) {
            setting_.name_width = std::max(setting_.name_width, file.size());
        }
    }

    int run() {
        std::vector<Job>& jobs = plan_.jobs;
        if (options_.to_stdout || options_.test) {
            if (!options_.test) shared_ = std::make_unique<StandardOutput>(setting_.interrupted);
        } else {
            // In any order: so the large ones come first, and the short tasks last.
            std::stable_partition(jobs.begin(), jobs.end(),
                                  [](const Job& job) { return !job.is_small; });
        }
        for (auto group = jobs.begin(); group != jobs.end() && !stops_;) {
            const bool is_small = group->is_small;
            const auto end = std::find_if(
                group, jobs.end(), [is_small](const Job& job) { return job.is_small != is_small; });
            if (is_small) {
                run_small({group, end});
            } else {
                run_large({group, end});
            }
            group = end;
        }
        progress_.clear();
        return code_;
    }

  private:
    static std::uint64_t total(const std::vector<Job>& jobs) {
        std::uint64_t sum = 0;
        for (const Job& job : jobs) {
            if (job.input == "-") return 0;
            sum += job.size;
        }
        return sum;
    }

    void run_large(std::span<const Job> jobs) {
        Codec codec;
        std::unique_ptr<BlockLine> line;
        if (options_.workers.count == 1) {
            line = std::make_unique<BlocksInTurn>(codec);
        } else {
            line = std::make_unique<BlockAccelerator>(options_.workers);
        }
        for (const Job& job : jobs) {
            if (stops_) return;
            const OnProgress on_progress = [this, &job](std::uint64_t bytes) {
                progress_.at(done_bytes_ + bytes, job.input);
            };
            report(job, run_job(job, setting_, *line, output_of(job), on_progress));
        }
    }
    void run_small(std::span<const Job> jobs) {
        run_small_jobs(jobs, setting_, output_of(jobs.front()),
                       [this](const Job& job, Outcome outcome) {
                           report(job, std::move(outcome));
                           return !stops_;
                       });
    }
    Output* output_of(const Job& job) {
        if (options_.test) return &nowhere_;
        if (job.input == "-" && !shared_) {
            shared_ = std::make_unique<StandardOutput>(setting_.interrupted);
        }
        return options_.to_stdout || job.input == "-" ? shared_.get() : nullptr;
    }
    void report(const Job& job, Outcome outcome) {
        if (!outcome.text.empty()) progress_.say(outcome.text);
        code_ = std::max(code_, outcome.code);
        // On standard output, data behind corrupt data would not stand where it is looked for.
        stops_ = stops_ || (outcome.code == Code::corrupt && shared_ != nullptr);
        done_bytes_ += job.size;
        progress_.at(done_bytes_, job.input);
    }

    const Options& options_;
    Plan plan_;
    Setting setting_;
    tool::Progress progress_;
    NoOutput nowhere_;
    std::unique_ptr<StandardOutput> shared_;
    std::uint64_t done_bytes_ = 0;
    int code_;
    bool stops_ = false;
};

int run(int argc, const char* const* argv, const tool::Interruption& interruption) {
    Options options;
    if (const auto code = read_options(argc, argv, options)) return *code;
    const Warn warn = [](const std::string& line) { write_to_stderr(line); };
    try {
        return Program(options, interruption, make_plan(options, warn)).run();
    } catch (const GraphError& error) {
        write_to_stderr(error_line(error.what()));
        return Code::failed;
    }
}

}  // namespace

}  // namespace strid::compress

int main(int argc, char** argv) {
    return strid::tool::run_program([argc, argv](const strid::tool::Interruption& interruption) {
        return strid::compress::run(argc, argv, interruption);
    });
}
