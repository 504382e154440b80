// SPDX-License-Identifier: Apache-2.0
#include "yuv_frames.hpp"

#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "y4m_header.hpp"

namespace strid::denoise {

namespace {

constexpr std::string_view y4m_signature = "YUV4MPEG2";
constexpr std::string_view frame_signature = "FRAME";
constexpr std::size_t line_bytes_max = 4'096;

FrameLayout layout_of(const RawShape& shape) {
    const FrameLayout::Size full{shape.width, shape.height};
    const FrameLayout::Size half{(full.width + 1) / 2, (full.height + 1) / 2};
    switch (shape.pixel) {
        case RawPixel::gray:
            return {.planes = {full}};
        case RawPixel::rgb24:
            return {.planes = {full, full, full}, .interleaved = true};
        case RawPixel::yuv420p:
            break;
    }
    return {.planes = {full, half, half}};
}

/// Frames of one size, each behind a line in YUV4MPEG2.
class VideoSource final : public FrameSource {
  public:
    /// `header` is that of the stream; empty: it is raw.
    VideoSource(std::unique_ptr<ByteInput> input, std::size_t frame_bytes, std::string header)
        : input_(std::move(input)), frame_bytes_(frame_bytes), header_(std::move(header)) {}

    [[nodiscard]] std::string_view stream_header() const override { return header_; }

    Status next(Frame& frame) override {
        while (true) {
            if (has_mark() && input_->bytes().size() >= frame_bytes_) {
                frame = {number_,
                         frame_name(),
                         0,
                         number_,
                         std::exchange(mark_, {}),
                         input_->take(frame_bytes_)};
                ++number_;
                return Status::frame;
            }
            const auto got = input_->more(frame_bytes_);
            if (got == ByteReader::Status::waiting) return Status::waiting;
            if (got != ByteReader::Status::end) continue;
            if (!input_->bytes().empty() || !mark_.empty()) fail_at_end();
            if (number_ == 0 && header_.empty()) {
                throw InputOutputError(input_->name() + ": it is empty");
            }
            return Status::end;
        }
    }

  private:
    [[nodiscard]] std::string frame_name() const {
        return fmt::format("{}: frame {}", input_->name(), number_ + 1);
    }
    [[noreturn]] void fail_at_end() const {
        if (!header_.empty() && mark_.empty()) {
            throw InputOutputError(frame_name() + " is cut off within its line FRAME");
        }
        throw InputOutputError(fmt::format("{} is cut off: {} of its {} bytes are there",
                                           frame_name(), input_->bytes().size(), frame_bytes_));
    }
    [[nodiscard]] bool has_mark() {
        if (header_.empty() || !mark_.empty()) return true;
        const std::string_view bytes = input_->bytes();
        const std::size_t known = std::min(bytes.size(), frame_signature.size());
        const std::size_t end = bytes.substr(0, line_bytes_max).find('\n');
        const bool goes_on = bytes.size() <= known || bytes[known] == '\n' || bytes[known] == ' ';
        const bool is_too_long = end == std::string_view::npos && bytes.size() >= line_bytes_max;
        if (bytes.substr(0, known) != frame_signature.substr(0, known) || !goes_on || is_too_long) {
            throw InputOutputError(frame_name() + " does not begin with a line FRAME");
        }
        if (end == std::string_view::npos) return false;
        mark_ = input_->take(end + 1);
        return true;
    }

    std::unique_ptr<ByteInput> input_;
    std::size_t frame_bytes_;
    std::string header_;
    std::string mark_;  // of the frame that is read; empty: not yet seen
    std::uint64_t number_ = 0;
};

class VideoFormat final : public FrameFormat {
  public:
    explicit VideoFormat(FrameLayout layout) : layout_(std::move(layout)) {}

    [[nodiscard]] Picture decode(const Frame& frame, const Loop& /*loop*/) const override {
        Picture picture{.kept_planes = layout_.kept_planes, .sample_max = layout_.sample_max};
        const auto* at = reinterpret_cast<const unsigned char*>(frame.bytes.data());
        const std::size_t step = layout_.interleaved ? layout_.planes.size() : 1;
        for (const auto& size : layout_.planes) {
            Plane plane{size.width, size.height, Array<std::uint16_t>(size.width * size.height)};
            if (layout_.sample_bytes == 2) {
                decode_wide(at, plane);
            } else {
                for (std::size_t i = 0; i < plane.samples.size(); ++i) {
                    plane.samples[i] = at[i * step];
                }
            }
            at += layout_.interleaved ? 1 : plane.samples.size() * layout_.sample_bytes;
            picture.planes.push_back(std::move(plane));
        }
        return picture;
    }

    [[nodiscard]] std::string encode(const Picture& picture, const Frame& frame,
                                     const Loop& /*loop*/) const override {
        std::string bytes(frame.bytes.size(), '\0');
        char* at = bytes.data();
        const std::size_t step = layout_.interleaved ? layout_.planes.size() : 1;
        for (const Plane& plane : picture.planes) {
            for (std::size_t i = 0; i < plane.samples.size(); ++i) {
                const std::uint16_t sample = plane.samples[i];
                if (layout_.sample_bytes == 2) {
                    at[2 * i] = static_cast<char>(sample & 0xff);
                    at[2 * i + 1] = static_cast<char>(sample >> 8);
                } else {
                    at[i * step] = static_cast<char>(sample);
                }
            }
            at += layout_.interleaved ? 1 : plane.samples.size() * layout_.sample_bytes;
        }
        return bytes;
    }

  private:
    void decode_wide(const unsigned char* at, Plane& plane) const {
        for (std::size_t i = 0; i < plane.samples.size(); ++i) {
            plane.samples[i] = static_cast<std::uint16_t>(at[2 * i] | at[2 * i + 1] << 8);
            if (plane.samples[i] > layout_.sample_max) {
                throw Error(fmt::format("it has a sample of {}, more than {}", plane.samples[i],
                                        layout_.sample_max));
            }
        }
    }

    FrameLayout layout_;
};

Frames frames_of(std::unique_ptr<ByteInput> input, FrameLayout layout, std::string header) {
    return {
        std::make_unique<VideoSource>(std::move(input), layout.frame_bytes(), std::move(header)),
        std::make_shared<const VideoFormat>(std::move(layout))};
}

}  // namespace

Frames raw_frames(std::unique_ptr<ByteInput> input, const RawShape& shape) {
    return frames_of(std::move(input), layout_of(shape), {});
}

bool begins_as_y4m(std::string_view bytes) noexcept {
    return bytes.starts_with(y4m_signature);
}

Frames y4m_frames(std::unique_ptr<ByteInput> input, std::uint64_t pixels_max,
                  const std::function<void()>& check) {
    std::size_t end = 0;
    while ((end = input->bytes().substr(0, line_bytes_max).find('\n')) == std::string_view::npos) {
        check();
        if (input->bytes().size() >= line_bytes_max ||
            input->more(line_bytes_max) == ByteReader::Status::end) {
            throw InputOutputError(input->name() + ": the header of YUV4MPEG2 has no end");
        }
    }
    std::string header = input->take(end + 1);
    try {
        FrameLayout layout = read_y4m_header(std::string_view(header).substr(0, end), pixels_max);
        return frames_of(std::move(input), std::move(layout), std::move(header));
    } catch (const Error& error) {
        throw InputOutputError(input->name() + ": the header of YUV4MPEG2: " + error.what());
    }
}

}  // namespace strid::denoise
