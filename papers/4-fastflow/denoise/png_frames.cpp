// SPDX-License-Identifier: Apache-2.0
#include "png_frames.hpp"

#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "png_chunks.hpp"
#include "png_reader.hpp"
#include "png_writer.hpp"

namespace strid::denoise {

namespace {

class PngSource final : public FrameSource {
  public:
    PngSource(std::vector<std::string> paths, std::unique_ptr<ByteInput> first,
              std::uint64_t pixels_max)
        : paths_(std::move(paths)),
          input_(std::move(first)),
          pixels_max_(pixels_max),
          scan_(pixels_max) {}

    Status next(Frame& frame) override {
        while (true) {
            if (!input_) {
                if (file_ == paths_.size()) return Status::end;
                input_ =
                    std::make_unique<ByteInput>(paths_[file_], ByteInput::Content::by_first_bytes);
            }
            if (find_end()) {
                frame = {number_++,  image_name(), file_,
                         in_file_++, {},           input_->take(scan_.size_bytes())};
                scan_ = PngScan(pixels_max_);
                return Status::frame;
            }
            // Doubles, so that what is read of a large image is looked at some times only.
            const auto got = input_->more(input_->bytes().size());
            if (got == ByteReader::Status::waiting) return Status::waiting;
            if (got == ByteReader::Status::end) end_file();
        }
    }

  private:
    [[nodiscard]] std::string image_name() const {
        if (in_file_ == 0) return input_->name();
        return fmt::format("{}: image {}", input_->name(), in_file_ + 1);
    }
    [[nodiscard]] bool find_end() {
        if (input_->bytes().empty()) return false;
        try {
            return scan_.find_end(input_->bytes());
        } catch (const ImageError& error) {
            throw InputOutputError(image_name() + ": " + error.what());
        }
    }
    void end_file() {
        if (!input_->bytes().empty()) {
            throw InputOutputError(image_name() + ": a PNG image that is cut off");
        }
        if (in_file_ == 0) throw InputOutputError(input_->name() + ": it is empty");
        input_.reset();
        in_file_ = 0;
        ++file_;
    }

    std::vector<std::string> paths_;
    std::unique_ptr<ByteInput> input_;  // of paths_[file_]; none: it is to be opened
    std::uint64_t pixels_max_;
    PngScan scan_;
    std::size_t file_ = 0;
    std::uint64_t in_file_ = 0;
    std::uint64_t number_ = 0;
};

class PngFormat final : public FrameFormat {
  public:
    PngFormat(std::uint64_t pixels_max, int level) : pixels_max_(pixels_max), level_(level) {}

    [[nodiscard]] Picture decode(const Frame& frame, const Loop& loop) const override {
        return read_png(frame.bytes, pixels_max_, loop);
    }
    [[nodiscard]] std::string encode(const Picture& picture, const Frame& frame,
                                     const Loop& loop) const override {
        return write_png(picture, chunks_to_keep(frame.bytes), level_, loop);
    }

  private:
    std::uint64_t pixels_max_;
    int level_;
};

}  // namespace

Frames png_frames(std::vector<std::string> paths, std::unique_ptr<ByteInput> first,
                  std::uint64_t pixels_max, int level) {
    return {std::make_unique<PngSource>(std::move(paths), std::move(first), pixels_max),
            std::make_shared<const PngFormat>(pixels_max, level)};
}

}  // namespace strid::denoise
