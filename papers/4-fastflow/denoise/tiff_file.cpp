// SPDX-License-Identifier: Apache-2.0
#include "tiff_file.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "image_error.hpp"

namespace strid::denoise {

namespace {

TiffFile& tiff_file(thandle_t file) noexcept {
    return *static_cast<TiffFile*>(file);
}

}  // namespace

TiffFile::TiffFile(std::string_view bytes, std::uint64_t memory_max) : read_(bytes) {
    open("rm", memory_max);  // m: no map of the file, of which there is none
}

TiffFile::TiffFile(bool big) : writes_(true) {
    open(big ? "w8" : "w", 0);
}

void TiffFile::open(const char* mode, std::uint64_t memory_max) {
    const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(
        ::TIFFOpenOptionsAlloc(), &::TIFFOpenOptionsFree);
    if (options == nullptr) throw ImageError("no memory for a TIFF image");
    if (memory_max != 0) {
        ::TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(memory_max));
    }
    ::TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &TiffFile::keep_error, this);
    ::TIFFOpenOptionsSetWarningHandlerExtR(
        options.get(), [](TIFF*, void*, const char*, const char*, va_list) { return 1; }, nullptr);
    tiff_.reset(::TIFFClientOpenExt(
        "TIFF", mode, this, &TiffFile::read, &TiffFile::write, &TiffFile::seek,
        [](thandle_t) { return 0; }, &TiffFile::size, [](thandle_t, void**, toff_t*) { return 0; },
        [](thandle_t, void*, toff_t) {}, options.get()));
    if (tiff_ == nullptr) fail("no directory of an image");
}

void TiffFile::fail(const char* what) const {
    if (writes_) throw ImageError("it does not become a TIFF image: " + error_);
    throw ImageError("a damaged TIFF image: " + (error_.empty() ? what : error_));
}

std::string TiffFile::finish() {
    // TIFFClose() would write it as well, but returns no status.
    if (::TIFFWriteDirectory(handle()) != 1 || has_error()) fail("");
    tiff_.reset();
    if (has_error()) fail("");
    return std::move(written_);
}

int TiffFile::keep_error(TIFF* /*tiff*/, void* file, const char* /*module*/, const char* format,
                         va_list values) {
    std::string& error = static_cast<TiffFile*>(file)->error_;
    if (!error.empty()) return 1;
    char text[256] = {};
    std::vsnprintf(text, sizeof text, format, values);
    error = text;
    std::ranges::replace(error, '\n', ' ');
    return 1;
}

tmsize_t TiffFile::read(thandle_t handle, void* out, tmsize_t size) {
    TiffFile& file = tiff_file(handle);
    const std::string_view bytes = file.writes_ ? file.written_ : file.read_;
    if (size < 0 || file.at_ > bytes.size()) return 0;
    const std::size_t taken = std::min(static_cast<std::size_t>(size), bytes.size() - file.at_);
    std::memcpy(out, bytes.data() + file.at_, taken);
    file.at_ += taken;
    return static_cast<tmsize_t>(taken);
}

tmsize_t TiffFile::write(thandle_t handle, void* bytes, tmsize_t size) {
    TiffFile& file = tiff_file(handle);
    if (!file.writes_ || size < 0) return -1;
    const std::uint64_t end = file.at_ + static_cast<std::uint64_t>(size);
    try {
        if (end > file.written_.size()) file.written_.resize(end);
    } catch (const std::bad_alloc&) {  // not through libtiff
        file.error_ = "not enough memory";
        return -1;
    }
    std::memcpy(file.written_.data() + file.at_, bytes, static_cast<std::size_t>(size));
    file.at_ = end;
    return size;
}

toff_t TiffFile::seek(thandle_t handle, toff_t offset, int whence) {
    TiffFile& file = tiff_file(handle);
    const std::uint64_t from =
        whence == SEEK_SET ? 0 : (whence == SEEK_CUR ? file.at_ : size(handle));
    return file.at_ = from + offset;
}

toff_t TiffFile::size(thandle_t handle) {
    const TiffFile& file = tiff_file(handle);
    return file.writes_ ? file.written_.size() : file.read_.size();
}

}  // namespace strid::denoise
