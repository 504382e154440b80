// SPDX-License-Identifier: Apache-2.0
//
// The policy for malformed lines, which cannot be read as records. A handler belongs to one replica
// of a source and is used on its thread only; the callback runs there too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <strid/connector/output_file.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid {

/// The action for a line that is no record.
enum class OnMalformed : std::uint8_t {
    stop,        ///< the run fails with an InputOutputError that names file, line and reason
    skip,        ///< the line is dropped and counted
    dead_letter  ///< like skip, and the line goes to the file or the callback given beside
};

/// One line that was refused. The views live until the callback returns.
struct MalformedLine {
    std::string_view file;    ///< The path, as the source was given it.
    std::uint64_t line;       ///< counted from 1; of a quoted record, its first line
    std::string_view reason;  ///< Why it is no record, in words.
    std::string_view text;    ///< as it stood in the file; of an overlong line, its beginning
};

/// The policy of one source. `dead_letter_path` gets rows `file,line,reason,text` in CSV.
struct MalformedOptions {
    OnMalformed policy = OnMalformed::stop;  ///< The action for a refused line.
    std::string dead_letter_path{};          ///< The file that refused lines go to; empty: none.
    /// Called with each refused line, by the thread of the replica.
    std::function<void(const MalformedLine&)> dead_letter{};
    Writing writing = Writing::whole;  ///< when a plain file gets its rows
};

/// The file that dead letters go to under these options: `dead_letter_path`, or that of a
/// DeadLetterFile. Nothing where there is none.
[[nodiscard]] std::optional<FileUse> dead_letter_file_of(const MalformedOptions& options);

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
    /// Lines reported since the last call.
    [[nodiscard]] std::uint64_t take_count() noexcept;

  private:
    class Letters;

    void hand_on(const MalformedLine& line);

    MalformedOptions options_;
    RunScope* run_;
    std::shared_ptr<Letters> letters_;  // null: no file of its own
    std::uint64_t count_ = 0;
};

}  // namespace strid
