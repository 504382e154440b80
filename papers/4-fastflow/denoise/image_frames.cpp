// SPDX-License-Identifier: Apache-2.0
#include "image_frames.hpp"

#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "image_error.hpp"
#include "image_metadata.hpp"
#include "interleaved.hpp"
#include "jpeg.hpp"
#include "netpbm.hpp"
#include "png_chunks.hpp"
#include "png_reader.hpp"
#include "png_writer.hpp"
#include "tiff.hpp"

namespace strid::denoise {

namespace {

/// Finds the end of an image that begins at the begin of bytes of which more come each time.
class ImageScan {
  public:
    explicit ImageScan(std::uint64_t pixels_max) : pixels_max_(pixels_max), png_(pixels_max) {}

    /// Its size, once it is known and all bytes are there; `bytes` are not empty. `is_all`: no more
    /// come. The images of one file are of one form: `form` is that of the first.
    [[nodiscard]] std::optional<std::size_t> find_end(std::string_view bytes, bool is_all,
                                                      std::optional<ImageForm>& form) {
        const auto found = form_of_bytes(bytes);
        if (form && found != form) throw ImageError(fmt::format("no {} image", form_name(*form)));
        if (!found) throw ImageError("no picture in a form that is read (--help has them)");
        std::optional<std::size_t> end;
        switch (*found) {
            case ImageForm::png:
                if (png_.find_end(bytes)) end = png_.size_bytes();
                break;
            case ImageForm::netpbm:
                end = end_of_netpbm(bytes, is_all);
                break;
            case ImageForm::jpeg:
            case ImageForm::tiff:
                end = end_of_file(bytes, is_all);
                break;
        }
        if (end) form = found;
        if (!end && is_all) {
            throw ImageError(fmt::format("a {} image that is cut off", form_name(*found)));
        }
        return end;
    }

  private:
    [[nodiscard]] std::optional<std::size_t> end_of_netpbm(std::string_view bytes,
                                                           bool is_all) const {
        const auto header = read_netpbm_header(bytes, pixels_max_);
        if (!header) return std::nullopt;
        if (header->is_plain) return end_of_file(bytes, is_all);
        if (bytes.size() < header->image_bytes()) return std::nullopt;
        return header->image_bytes();
    }
    /// Such an image ends where its file does.
    [[nodiscard]] std::optional<std::size_t> end_of_file(std::string_view bytes,
                                                         bool is_all) const {
        constexpr std::uint64_t pixel_bytes_max = 24;  // three numbers of five digits, and spaces
        constexpr std::uint64_t other_bytes_max = 64U << 20;
        if (bytes.size() > pixel_bytes_max * pixels_max_ + other_bytes_max) {
            throw ImageError("an image that is much longer than its pixels can be (--pixels-max)");
        }
        return is_all ? std::optional(bytes.size()) : std::nullopt;
    }

    std::uint64_t pixels_max_;
    PngScan png_;
};

class ImageSource final : public FrameSource {
  public:
    ImageSource(std::vector<std::string> paths, std::unique_ptr<ByteInput> first,
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
            if (const auto end = find_end()) {
                frame = {number_++, image_name(), file_, in_file_++, {}, input_->take(*end)};
                scan_ = ImageScan(pixels_max_);
                return Status::frame;
            }
            if (is_all_) {
                end_file();
                continue;
            }
            // Doubles, so that what is read of a large image is looked at some times only.
            const auto got = input_->more(input_->bytes().size());
            if (got == ByteReader::Status::waiting) return Status::waiting;
            is_all_ = got == ByteReader::Status::end;
        }
    }

  private:
    [[nodiscard]] std::string image_name() const {
        if (in_file_ == 0) return input_->name();
        return fmt::format("{}: image {}", input_->name(), in_file_ + 1);
    }
    [[nodiscard]] std::optional<std::size_t> find_end() {
        if (input_->bytes().empty()) return std::nullopt;
        try {
            return scan_.find_end(input_->bytes(), is_all_, form_);
        } catch (const ImageError& error) {
            throw InputOutputError(image_name() + ": " + error.what());
        }
    }
    void end_file() {
        if (in_file_ == 0) throw InputOutputError(input_->name() + ": it is empty");
        input_.reset();
        form_.reset();
        is_all_ = false;
        in_file_ = 0;
        ++file_;
    }

    std::vector<std::string> paths_;
    std::unique_ptr<ByteInput> input_;  // of paths_[file_]; none: it is to be opened
    std::uint64_t pixels_max_;
    ImageScan scan_;
    std::optional<ImageForm> form_;  // of the images of this file
    bool is_all_ = false;            // nothing comes behind the bytes of input_
    std::size_t file_ = 0;
    std::uint64_t in_file_ = 0;
    std::uint64_t number_ = 0;
};

ImageMetadata metadata_of(const Frame& frame, ImageForm form) {
    switch (form) {
        case ImageForm::png:
            return metadata_of_png(frame.bytes);
        case ImageForm::jpeg:
            return metadata_of_jpeg(frame.bytes);
        case ImageForm::tiff:
            return metadata_of_tiff(frame.bytes);
        case ImageForm::netpbm:
            break;
    }
    return {};
}

class ImageFormat final : public FrameFormat {
  public:
    explicit ImageFormat(ImageOptions options) : options_(std::move(options)) {}

    [[nodiscard]] Picture decode(const Frame& frame, const Loop& loop) const override {
        switch (form_of(frame)) {
            case ImageForm::png:
                break;
            case ImageForm::netpbm:
                return read_netpbm(frame.bytes, options_.pixels_max, loop);
            case ImageForm::jpeg:
                return read_jpeg(frame.bytes, options_.pixels_max, loop);
            case ImageForm::tiff:
                return read_tiff(frame.bytes, options_.pixels_max, loop);
        }
        return read_png(frame.bytes, options_.pixels_max, loop);
    }

    [[nodiscard]] std::string encode(const Picture& picture, const Frame& frame,
                                     const Loop& loop) const override {
        const ImageForm from = form_of(frame);
        const ImageTarget to = target_of(frame, from);
        if (frame.number > 0 && options_.is_one_file &&
            (to.form == ImageForm::jpeg || to.form == ImageForm::tiff)) {
            throw Error(
                fmt::format("a {} file has room for one image: --output with a pattern "
                            "(out-%04d{}) makes a file of each",
                            form_name(to.form), to.form == ImageForm::jpeg ? ".jpg" : ".tif"));
        }
        if (to.form == ImageForm::netpbm) return encode_netpbm(picture, to);
        const unsigned sample_max = picture.sample_max > 255 ? 65'535 : 255;
        if (picture.sample_max != sample_max) {
            return encode_as(rescaled(picture, sample_max, loop), frame, from, to.form, loop);
        }
        return encode_as(picture, frame, from, to.form, loop);
    }

  private:
    [[nodiscard]] static ImageForm form_of(const Frame& frame) {
        return form_of_bytes(frame.bytes).value_or(ImageForm::png);
    }
    [[nodiscard]] ImageTarget target_of(const Frame& frame, ImageForm from) const {
        const auto& targets = options_.targets;
        if (frame.file < targets.size() && targets[frame.file]) return *targets[frame.file];
        return target_of_input(from);
    }
    [[nodiscard]] static std::string encode_netpbm(const Picture& picture, ImageTarget to) {
        const std::size_t planes = picture.changed_planes();
        if (to.planes != 0 && to.planes != planes) {
            throw Error(to.planes == 1 ? "it has colours, and PGM is grey: .ppm has colours"
                                       : "it is grey, and PPM has colours: .pgm is grey");
        }
        return write_netpbm(picture);
    }
    [[nodiscard]] std::string encode_as(const Picture& picture, const Frame& frame, ImageForm from,
                                        ImageForm to, const Loop& loop) const {
        if (to == ImageForm::png && from == ImageForm::png) {
            return write_png(picture, chunks_to_keep(frame.bytes), options_.compression, loop);
        }
        const ImageMetadata metadata = metadata_of(frame, from);
        if (metadata.multiplied_alpha && to != ImageForm::tiff) {
            throw Error("its colours are multiplied by its alpha, which only TIFF keeps (.tif)");
        }
        if (to == ImageForm::tiff) return write_tiff(picture, metadata, options_.compression);
        if (to == ImageForm::jpeg) return write_jpeg(picture, metadata, options_.quality);
        return write_png(picture, png_chunks_of(metadata), options_.compression, loop);
    }

    ImageOptions options_;
};

}  // namespace

Frames image_frames(std::vector<std::string> paths, std::unique_ptr<ByteInput> first,
                    ImageOptions options) {
    const std::uint64_t pixels_max = options.pixels_max;
    return {std::make_unique<ImageSource>(std::move(paths), std::move(first), pixels_max),
            std::make_shared<const ImageFormat>(std::move(options))};
}

}  // namespace strid::denoise
