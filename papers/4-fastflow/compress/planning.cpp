// SPDX-License-Identifier: Apache-2.0
#include "planning.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>

#include "file_names.hpp"

namespace strid::compress {

namespace {

// A compressed file that is this small has a few blocks.
constexpr std::uint64_t small_bytes = 1'000'000;
// A file that is this small has one block, or blocks that are not worth another thread.
constexpr std::uint64_t tiny_bytes = 50'000;

/// Why a file is left out.
struct Refusal {
    std::string why = {};
    bool noncritical = false;  ///< not reported with --quiet
};

class Planner {
  public:
    Planner(const Options& options, const Warn& warn) : options_(options), warn_(warn) {
        for (const std::string& file : options.files) inputs_.insert(file);
    }

    void add(const std::string& file) {
        if (file == "-") {
            plan_.jobs.push_back({.input = file});
            return;
        }
        Job job{.input = file};
        if (const auto refusal = check(job)) {
            plan_.code = Code::failed;
            if (!refusal->noncritical || !options_.quiet) {
                warn_(error_line(fmt::format("{}: {}", file, refusal->why)));
            }
            return;
        }
        plan_.jobs.push_back(std::move(job));
    }
    [[nodiscard]] Plan take() {
        // Fewer files than workers: those with several blocks keep the others busy, too.
        const auto small = std::count_if(plan_.jobs.begin(), plan_.jobs.end(),
                                         [](const Job& job) { return job.is_small; });
        if (static_cast<std::size_t>(small) < options_.workers.count) {
            for (Job& job : plan_.jobs) job.is_small = job.is_small && job.size <= tiny_bytes;
        }
        return std::move(plan_);
    }

  private:
    std::optional<Refusal> check(Job& job) {
        struct stat status {};
        if (::stat(job.input.c_str(), &status) != 0 || ::access(job.input.c_str(), R_OK) != 0) {
            return Refusal{"cannot open: " + std::generic_category().message(errno)};
        }
        const std::string_view suffix = compressed_suffix(job.input);
        if (options_.direction == Direction::compress && !suffix.empty()) {
            return Refusal{fmt::format("has the suffix {} already", suffix), true};
        }
        if (S_ISDIR(status.st_mode)) return Refusal{"is a directory"};
        const bool is_regular = S_ISREG(status.st_mode);
        job.size = is_regular ? static_cast<std::uint64_t>(status.st_size) : 0;
        job.is_small = is_regular && job.size <= small_bytes;
        return options_.replaces() ? check_replacement(job, status) : std::nullopt;
    }
    std::optional<Refusal> check_replacement(Job& job, const struct stat& status) {
        struct stat named {};
        const bool is_link = ::lstat(job.input.c_str(), &named) == 0 && S_ISLNK(named.st_mode);
        if (!S_ISREG(status.st_mode)) return Refusal{"is not a regular file", true};
        if (is_link && !options_.force) {
            return Refusal{"is a symbolic link (-f replaces the link)", true};
        }
        job.output = output_name(job.input, options_.direction);
        if (!outputs_.insert(job.output).second || inputs_.contains(job.output)) {
            const bool is_input = inputs_.contains(job.output);
            return Refusal{fmt::format("would become {}, which is the {} another file", job.output,
                                       is_input ? "name of" : "output of"),
                           true};
        }
        if (const auto refusal = check_output(job.output)) return refusal;
        const auto others = static_cast<unsigned long>(named.st_nlink) - 1;
        if (others != 0 && !options_.force) {
            return Refusal{fmt::format("has {} other hard link{} (-f leaves {} as they are)",
                                       others, others == 1 ? "" : "s", others == 1 ? "it" : "them"),
                           true};
        }
        if (options_.direction == Direction::decompress && !options_.quiet &&
            compressed_suffix(job.input).empty()) {
            warn_(fmt::format("strid: {}: has no suffix like .bz2; it becomes {}\n", job.input,
                              job.output));
        }
        return std::nullopt;
    }
    std::optional<Refusal> check_output(const std::string& output) const {
        struct stat there {};
        if (::lstat(output.c_str(), &there) != 0) return std::nullopt;
        if (!options_.force) {
            return Refusal{fmt::format("the output {} exists (-f replaces it)", output), true};
        }
        if (S_ISREG(there.st_mode) || S_ISLNK(there.st_mode)) return std::nullopt;
        return Refusal{fmt::format("the output {} exists and is not a regular file", output)};
    }

    const Options& options_;
    const Warn& warn_;
    std::set<std::string> inputs_;
    std::set<std::string> outputs_;
    Plan plan_;
};

}  // namespace

std::string error_line(const std::string& what) {
    return fmt::format("strid: error: {}\n", what);
}

Plan make_plan(const Options& options, const Warn& warn) {
    const bool reads_stdin =
        std::find(options.files.begin(), options.files.end(), "-") != options.files.end();
    const bool compresses = options.direction == Direction::compress;
    if (compresses && (options.to_stdout || reads_stdin) && ::isatty(STDOUT_FILENO) == 1) {
        throw GraphError("compressed data is not written to a terminal (see --help)");
    }
    if (!compresses && reads_stdin && ::isatty(STDIN_FILENO) == 1) {
        throw GraphError("compressed data is not read from a terminal (see --help)");
    }
    if (!options.test && (options.to_stdout || reads_stdin)) {
        std::vector<FileUse> uses{
            {.kind = FileUse::Kind::writes, .path = "-", .user = "the result"}};
        for (const std::string& file : options.files) {
            uses.push_back({.kind = FileUse::Kind::reads, .path = file, .user = "the input"});
        }
        check_files(uses);
    }
    Planner planner(options, warn);
    for (const std::string& file : options.files) planner.add(file);
    return planner.take();
}

}  // namespace strid::compress
