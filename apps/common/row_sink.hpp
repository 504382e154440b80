// SPDX-License-Identifier: Apache-2.0
//
// The file of a sink that writes rows: a sink derives from it and appends its rows. Replicas share
// a file, row by row. One thread at a time each.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <strid/connector/row_writer.hpp>
#include <strid/operator/contract.hpp>

namespace strid::apps {

class RowSink {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .stateless = true};

    /// An empty path: there is no file. `header` ends its line.
    RowSink(const std::string& path, Writing writing, std::string header = {})
        : header_(std::move(header)) {
        if (!path.empty()) writer_.emplace(path, writing);
    }

    /// Throws InputOutputError, as the next two.
    void on(const Opened& opened) {
        if (writer_) writer_->open(header_, opened.context);
    }
    void on(Flush) {
        if (writer_) writer_->flush();
    }
    void on(SnapshotBegins snapshot) {
        if (writer_) writer_->begin_snapshot(snapshot.number);
    }
    void on(Closed) {
        if (writer_) writer_->close();
    }
    [[nodiscard]] bool blocks() const noexcept { return writer_ && writer_->may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const {
        return writer_ ? writer_->files() : std::vector<FileUse>{};
    }

  protected:
    /// Null where there is no file.
    [[nodiscard]] RowWriter* writer() noexcept { return writer_ ? &*writer_ : nullptr; }

  private:
    std::string header_;
    std::optional<RowWriter> writer_;
};

}  // namespace strid::apps
