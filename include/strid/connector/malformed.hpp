// SPDX-License-Identifier: Apache-2.0
//
// The policy for malformed lines, which cannot be read as records. The callback runs on the thread
// of the replica that read the line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <strid/connector/output_file.hpp>

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

}  // namespace strid
