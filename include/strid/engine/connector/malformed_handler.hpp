// SPDX-License-Identifier: Apache-2.0
//
// Carries out the policy for malformed lines. A handler belongs to one replica of a source and is
// used on its thread only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <strid/connector/malformed.hpp>
#include <strid/connector/output_file.hpp>
#include <strid/engine/base/excerpt.hpp>
#include <strid/operator/refused_lines.hpp>

namespace strid {

/// Throws GraphError for a dead_letter policy without a destination.
void check_malformed_options(const MalformedOptions& options);

class MalformedHandler {
  public:
    /// Opens the dead-letter file if there is one, which is complete when the run ends well;
    /// outside a run, when the handler goes. Throws InputOutputError when it cannot.
    explicit MalformedHandler(MalformedOptions options, RunScope* run = nullptr);
    ~MalformedHandler();
    MalformedHandler(const MalformedHandler&) = delete;
    MalformedHandler& operator=(const MalformedHandler&) = delete;

    /// Throws under `stop`; otherwise counts the line and passes it on.
    void report(const MalformedLine& line);
    /// The same under every policy without an exception, for a line that is no fault of the input.
    void report_cut_off(const MalformedLine& line);
    /// Writes what is buffered for the dead-letter file.
    void flush();
    /// The lines reported so far belong to the snapshot of this number.
    void begin_snapshot(std::uint64_t number);
    /// Until the next call with false nothing is reported, counted or thrown: for lines that were
    /// reported before.
    void silence(bool is_silent) noexcept { is_silent_ = is_silent; }
    /// Lines reported since the last call; hands the last of them to the run.
    [[nodiscard]] std::uint64_t take_count() noexcept;

  private:
    class Letters;

    void hand_on(const MalformedLine& line);
    void remember(const MalformedLine& line);

    MalformedOptions options_;
    RunScope* run_;
    std::shared_ptr<Letters> letters_;  // null: no file of its own
    std::uint64_t count_ = 0;
    std::array<RefusedLine, RefusedLines::lines_max> last_ = {};  // of those counted, a ring
    bool is_silent_ = false;
};

/// Appends the row of a line, with its newline.
void append_dead_letter(std::string& rows, const MalformedLine& line);

}  // namespace strid
