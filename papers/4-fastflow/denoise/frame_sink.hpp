// SPDX-License-Identifier: Apache-2.0
//
// Where frames go: all of them into one file or pipe, or each into a file of its own. Owns what is
// open. One thread at a time.
//
// Invariant: a plain file is whole or not there; of a sequence of files those before a failure are
// there, and a file that has all frames is not.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "file_names.hpp"
#include "frame.hpp"

namespace strid::denoise {

class FrameSink {
  public:
    virtual ~FrameSink() = default;
    /// Before the first frame.
    virtual void begin(std::string_view stream_header, const std::atomic<bool>& interrupted) = 0;
    /// Throws InputOutputError, Interrupted.
    virtual void write(const Frame& frame, std::string_view bytes,
                       const std::atomic<bool>& interrupted) = 0;
    virtual void finish(const std::atomic<bool>& interrupted) = 0;
};

/// True where all frames go into one file or stream.
[[nodiscard]] bool is_one_output(const std::string& output);

/// `output` is "-" or a file, a folder or a pattern; a folder that is not there is made when the
/// first frame is written. `references` are only read. Throws GraphError where an input would be
/// overwritten, where two frames would have one name, and where several files would become one.
[[nodiscard]] std::unique_ptr<FrameSink> make_sink(const std::string& output,
                                                   const std::vector<InputFile>& inputs,
                                                   const std::vector<InputFile>& references);

}  // namespace strid::denoise
