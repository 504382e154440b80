// SPDX-License-Identifier: Apache-2.0
//
// Frames on their way from an input to an output, as bytes, and the two interfaces that the forms
// of video share: where frames come from, and what their bytes mean.
//
// Threads: a source is for one; a format is shared by all workers and has no state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

struct Frame {
    std::uint64_t number = 0;   ///< From 0, in the order of the input.
    std::string name = {};      ///< For messages.
    std::size_t file = 0;       ///< Which of the files it is of, from 0.
    std::uint64_t in_file = 0;  ///< Which image of that file, from 0.
    std::string mark = {};      ///< The header before the bytes in a stream: FRAME lines of Y4M.
    std::string bytes = {};
};

class FrameSource {
  public:
    enum class [[nodiscard]] Status : unsigned char {
        frame,
        waiting,  ///< A pipe has nothing now; ask again.
        end
    };

    virtual ~FrameSource() = default;
    /// Waits some tens of milliseconds at most. Throws InputOutputError.
    virtual Status next(Frame& frame) = 0;
    /// The header before the first frame of a stream.
    [[nodiscard]] virtual std::string_view stream_header() const { return {}; }
};

class FrameFormat {
  public:
    virtual ~FrameFormat() = default;
    /// Throws Error.
    [[nodiscard]] virtual Picture decode(const Frame& frame, const Loop& loop) const = 0;
    /// The bytes of the frame with another picture.
    [[nodiscard]] virtual std::string encode(const Picture& picture, const Frame& frame,
                                             const Loop& loop) const = 0;
};

struct Frames {
    std::unique_ptr<FrameSource> source;
    std::shared_ptr<const FrameFormat> format;
};

}  // namespace strid::denoise
