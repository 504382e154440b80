// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "input.hpp"
#include "unpacker.hpp"

namespace strid::compress {

namespace {

/// The lines of one file.
class JobRun {
  public:
    JobRun(const Job& job, const Setting& setting, BlockLine& line, const OnProgress& on_progress)
        : job_(job), setting_(setting), line_(line), on_progress_(on_progress) {}

    void into(Output& output) {
        Input input(job_.input, setting_.interrupted);
        code(input, output);
    }
    void in_place() {
        const bool force = setting_.options.force;
        Input input(job_.input, setting_.interrupted,
                    force ? Input::Kind::file : Input::Kind::file_without_link);
        FileOutput output(job_.output, input.status(), force);
        code(input, output);
        const bool removes = !setting_.options.keep;
        if (removes && !input.is_unchanged()) {
            throw InputOutputError(fmt::format(
                "{}: was changed while it was read; it is left as it is", input.name()));
        }
        output.commit();
        if (removes && ::unlink(job_.input.c_str()) != 0) {
            throw InputOutputError(fmt::format("{}: cannot be removed: {}", input.name(),
                                               std::generic_category().message(errno)));
        }
    }
    [[nodiscard]] std::string text() && { return std::move(text_); }

  private:
    void code(Input& input, Output& output) {
        if (setting_.options.direction == Direction::compress) {
            pack(input, output, line_, setting_.options.level, on_progress_);
            describe(input, ratio(input.bytes_read(), output.bytes_written()));
        } else {
            unpack(input, output);
        }
    }
    void unpack(Input& input, Output& output) {
        const Options& options = setting_.options;
        Unpacker unpacker(input, output, line_, on_progress_);
        if (!unpacker.run()) {
            if (!options.force || options.test) {
                throw CorruptError(fmt::format("{}: is not a file of bzip2", input.name()));
            }
            unpacker.copy_through();
        }
        if (unpacker.garbage() && !options.quiet) {
            text_ += fmt::format("strid: {}: trailing garbage from byte {} on is ignored\n",
                                 input.name(), *unpacker.garbage());
        }
        describe(input, options.test ? "ok" : "done");
    }
    /// As bzip2 prints it.
    void describe(const Input& input, const std::string& what) {
        if (!setting_.options.verbose) return;
        text_ += fmt::format("  {:<{}} {}\n", input.name() + ":", setting_.name_width + 1, what);
    }
    static std::string ratio(std::uint64_t read, std::uint64_t written) {
        if (read == 0) return " no data compressed.";
        const auto in = static_cast<double>(read);
        const auto out = static_cast<double>(written);
        return fmt::format("{:6.3f}:1, {:6.3f} bits/byte, {:5.2f}% saved, {} in, {} out.", in / out,
                           8 * out / in, 100 * (1 - out / in), read, written);
    }

    const Job& job_;
    const Setting& setting_;
    BlockLine& line_;
    const OnProgress& on_progress_;
    std::string text_;
};

}  // namespace

Outcome run_job(const Job& job, const Setting& setting, BlockLine& line, Output* shared,
                const OnProgress& on_progress) {
    JobRun run(job, setting, line, on_progress);
    Outcome outcome;
    try {
        if (shared != nullptr) {
            run.into(*shared);
        } else {
            run.in_place();
        }
    } catch (const CorruptError& error) {
        outcome = {Code::corrupt, error_line(error.what())};
    } catch (const InputOutputError& error) {
        if (shared != nullptr && shared->is_standard_output()) throw;
        outcome = {Code::failed, error_line(error.what())};
    }
    line.discard_all();
    outcome.text = std::move(run).text() + outcome.text;
    return outcome;
}

}  // namespace strid::compress
