// SPDX-License-Identifier: Apache-2.0
//
// A file, a pipe or standard output ("-") that several replicas of a sink append whole rows to.
//
// Invariants: a plain file that is written whole gets its name when the run ends well (outside a
// run: by the last close()), and is as it was before if a writer was abandoned. A write that fails
// is an InputOutputError for every caller from then on, and never a signal.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/base/destination.hpp>
#include <strid/base/file_use.hpp>
#include <strid/connector/row_output.hpp>
#include <strid/operator/run_scope.hpp>

namespace strid {

namespace detail {
class MessageRows;
}

/// A file that the replicas of a sink share (connector/row_writer.hpp). Any thread.
class OutputFile final : public RowOutput {
  public:
    /// Opens nothing yet.
    explicit OutputFile(std::string path, Writing writing = Writing::whole,
                        RowFormat format = RowFormat::csv);
    ~OutputFile() override;

    /// open() for callers that come one after the other until the run ends, and do not close.
    void open_until_commit(RunScope& run);
    /// Opens it outside a run where it is not open: then true, and the caller closes.
    [[nodiscard]] bool open_if_closed();

    /// Gives the file its name. By the run, when it has ended well.
    void commit() override;
    /// Removes what was written. By the run, when it failed.
    void discard() noexcept override;
    // Snapshots.
    [[nodiscard]] std::string name() const override { return path(); }
    void prepare(std::uint64_t snapshot, StateWriter& writer) override;
    void suspend() noexcept override;

    /// Never for /dev/null.
    [[nodiscard]] bool may_block() const noexcept override { return destination_.may_block(); }
    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return destination_.path(); }
    /// The use of the file, for the check that a graph does not overwrite its input.
    [[nodiscard]] FileUse use() const;
    [[nodiscard]] std::vector<FileUse> uses() const override { return {use()}; }

  private:
    void begin() override;
    [[nodiscard]] bool is_open() const noexcept override { return destination_.is_open(); }
    void write(std::string_view rows) override;
    void cut(std::uint64_t snapshot) override;
    void end() override;
    void let_go() noexcept override;
    void commit_file();
    [[nodiscard]] std::string_view objects_of(std::string_view rows);

    Destination destination_;
    // Under mutex_:
    std::exception_ptr failure_;
    std::uint64_t written_ = 0;                     // bytes before the last snapshot
    std::unique_ptr<detail::MessageRows> objects_;  // of JSON; null: rows are CSV
    std::string objects_text_;
};

}  // namespace strid
