// SPDX-License-Identifier: Apache-2.0
//
// A file that several sources write their refused lines to: a copy of it is `dead_letter` in the
// options of each. (A source alone buffers what it writes to its `dead_letter_path`.) Owns the file
// together with its copies; any thread may call any copy.
// Law: a line is a row `file,line,reason,text` of CSV, written whole before the call returns.
#pragma once

#include <memory>
#include <string>

#include <strid/connector/malformed.hpp>
#include <strid/connector/output_file.hpp>

namespace strid {

class DeadLetterFile {
  public:
    /// Creates or truncates the file. Throws InputOutputError.
    explicit DeadLetterFile(std::string path);
    /// Throws InputOutputError.
    void operator()(const MalformedLine& line) const;

  private:
    std::shared_ptr<OutputFile> file_;
};

/// Appends the row of a line, with its newline.
void append_dead_letter(std::string& rows, const MalformedLine& line);

}  // namespace strid
