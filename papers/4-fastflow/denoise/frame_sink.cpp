// SPDX-License-Identifier: Apache-2.0
#include "frame_sink.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>

namespace strid::denoise {

namespace {

std::vector<FileUse> reads(const std::vector<InputFile>& inputs,
                           const std::vector<InputFile>& references) {
    std::vector<FileUse> uses;
    for (const InputFile& file : inputs) {
        uses.push_back({.kind = FileUse::Kind::reads, .path = file.path, .user = "the input"});
    }
    for (const InputFile& file : references) {
        uses.push_back({.kind = FileUse::Kind::reads, .path = file.path, .user = "--reference"});
    }
    return uses;
}

FileUse written(const std::string& path) {
    return {.kind = FileUse::Kind::writes, .path = path, .beside = true, .user = "--output"};
}

class StreamSink final : public FrameSink {
  public:
    explicit StreamSink(const std::string& path) : destination_(path, Writing::whole) {}

    void begin(std::string_view stream_header, const std::atomic<bool>& interrupted) override {
        destination_.open();
        if (!stream_header.empty()) destination_.write(stream_header, interrupted);
    }
    void write(const Frame& frame, std::string_view bytes,
               const std::atomic<bool>& interrupted) override {
        if (!frame.mark.empty()) destination_.write(frame.mark, interrupted);
        destination_.write(bytes, interrupted);
    }
    void finish(const std::atomic<bool>& interrupted) override { destination_.commit(interrupted); }

  private:
    Destination destination_;
};

/// A file for each frame, named by a pattern, or as the input is, in another folder.
class FilesSink final : public FrameSink {
  public:
    FilesSink(std::string output, std::vector<InputFile> inputs,
              const std::vector<InputFile>& references)
        : output_(std::move(output)),
          pattern_(NamePattern::read(output_)),
          inputs_(std::move(inputs)),
          uses_(reads(inputs_, references)) {
        if (is_folder(output_)) pattern_.reset();
        keeps_numbers_ = std::ranges::all_of(
            inputs_, [](const InputFile& file) { return file.number.has_value(); });
        std::vector<FileUse> uses = uses_;
        std::set<std::string> names;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            if (inputs_[i].path == "-") continue;
            planned_.push_back(name(Frame{.number = i, .file = i}));
            // In a folder that is not there yet, check_files() does not find the files.
            if (!names.insert(planned_.back()).second) {
                throw GraphError(fmt::format("two inputs would become '{}'", planned_.back()));
            }
            uses.push_back(written(planned_.back()));
        }
        check_files(uses);
    }

    void begin(std::string_view /*stream_header*/,
               const std::atomic<bool>& /*interrupted*/) override {
        if (pattern_) return;
        std::error_code error;
        std::filesystem::create_directories(output_, error);
        if (error) throw InputOutputError(output_ + ": " + error.message());
    }
    void write(const Frame& frame, std::string_view bytes,
               const std::atomic<bool>& interrupted) override {
        const std::string path = name(frame);
        // A file with several images has more names than were foreseen.
        if (frame.number >= planned_.size() || planned_[frame.number] != path) {
            std::vector<FileUse> uses = uses_;
            uses.push_back(written(path));
            check_files(uses);
        }
        Destination destination(path, Writing::whole);
        destination.open();
        destination.write(bytes, interrupted);
        destination.commit(interrupted);
    }
    void finish(const std::atomic<bool>& /*interrupted*/) override {}

  private:
    [[nodiscard]] std::string name(const Frame& frame) const {
        const InputFile& input = inputs_[frame.file];
        if (pattern_ && !keeps_numbers_) return pattern_->name(frame.number + 1);
        if (frame.in_file > 0) {
            throw InputOutputError(input.path +
                                   ": it has more than one image, and the output one name for it");
        }
        return pattern_ ? pattern_->name(*input.number) : result_in_folder(output_, input.path);
    }

    std::string output_;
    std::optional<NamePattern> pattern_;  // none: a folder
    std::vector<InputFile> inputs_;
    std::vector<FileUse> uses_;
    std::vector<std::string> planned_;
    bool keeps_numbers_ = false;
};

}  // namespace

bool is_one_output(const std::string& output) {
    return output == "-" || (!is_folder(output) && !NamePattern::read(output));
}

std::unique_ptr<FrameSink> make_sink(const std::string& output,
                                     const std::vector<InputFile>& inputs,
                                     const std::vector<InputFile>& references) {
    if (!is_one_output(output)) {
        if (is_folder(output) &&
            std::ranges::any_of(inputs, [](const InputFile& file) { return file.path == "-"; })) {
            throw GraphError(
                "standard input has no name for a file in a folder: --output with a "
                "pattern (frame-%04d.png) names its images");
        }
        return std::make_unique<FilesSink>(output, inputs, references);
    }
    if (inputs.size() > 1 && output != "-") {
        throw GraphError(
            fmt::format("{} files would become one: --output must be a folder (out/) or a "
                        "pattern (out-%04d.png)",
                        inputs.size()));
    }
    std::vector<FileUse> uses = reads(inputs, references);
    uses.push_back(written(output));
    check_files(uses);
    return std::make_unique<StreamSink>(output);
}

}  // namespace strid::denoise
