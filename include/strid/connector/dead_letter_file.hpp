// SPDX-License-Identifier: Apache-2.0
//
// A file for the malformed lines of several sources: set a copy of it as `dead_letter` in the
// options of each. (For one source set `dead_letter_path` instead, which buffers.) Owns the file
// together with its copies; any thread may call any copy.
//
// Invariants: a line is a row `file,line,reason,text` of CSV, written whole before the call
// returns. The run of the first source begins the file. The file gets its name when that run has
// ended well, unless it is written live.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <strid/connector/malformed.hpp>
#include <strid/connector/output_file.hpp>

namespace strid {

/// A file for refused lines that several sources share: copies write to the same file. Any thread.
class DeadLetterFile {
  public:
    /// Opens nothing yet.
    explicit DeadLetterFile(std::string path, Writing writing = Writing::whole);
    /// For a source that has it in its options. Throws InputOutputError.
    void open(RunScope& run) const { shared_->file->open_until_commit(run); }
    /// The lines so far belong to a snapshot; of several sources, those of the last one that says
    /// so.
    void begin_snapshot(std::uint64_t number) const { shared_->file->begin_snapshot(number); }
    /// Where no run has opened it, as within another callback, the first line does, and it gets its
    /// name when the last copy goes. Throws InputOutputError.
    void operator()(const MalformedLine& line) const;

    /// Whether a reader of the file (a pipe) may keep a line waiting.
    [[nodiscard]] bool may_block() const noexcept { return shared_->file->may_block(); }
    /// For `files()` of a source or a sink.
    [[nodiscard]] FileUse use() const { return shared_->file->use(); }

  private:
    struct Shared {
        ~Shared();
        std::shared_ptr<OutputFile> file;
        std::atomic<bool> opened{false};  // by a line
    };
    std::shared_ptr<Shared> shared_;
};

}  // namespace strid
