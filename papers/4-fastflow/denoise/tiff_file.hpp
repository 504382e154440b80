// SPDX-License-Identifier: Apache-2.0
//
// A TIFF file in memory for libtiff: bytes that are read, or a text that is written. Its errors are
// kept, not printed. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tiffio.h>

namespace strid::denoise {

class TiffFile {
  public:
    /// To be read; libtiff takes no piece of memory of more than `memory_max` bytes.
    TiffFile(std::string_view bytes, std::uint64_t memory_max);
    /// To be written; `big`: as BigTIFF.
    explicit TiffFile(bool big);
    TiffFile(const TiffFile&) = delete;
    TiffFile& operator=(const TiffFile&) = delete;

    /// Throws ImageError, with the first error of libtiff, or `what` where there was none.
    [[noreturn]] void fail(const char* what) const;
    [[nodiscard]] TIFF* handle() const noexcept { return tiff_.get(); }
    /// True where libtiff has reported an error, though it went on.
    [[nodiscard]] bool has_error() const noexcept { return !error_.empty(); }
    /// Ends what is written. Throws ImageError.
    [[nodiscard]] std::string finish();

    /// That of a tag that has one; `otherwise` where it is not there.
    template <class Number>
    [[nodiscard]] Number number(std::uint32_t tag, Number otherwise) const {
        Number value = otherwise;
        return ::TIFFGetFieldDefaulted(handle(), tag, &value) == 1 ? value : otherwise;
    }

  private:
    struct Close {
        void operator()(TIFF* tiff) const noexcept { ::TIFFClose(tiff); }
    };

    void open(const char* mode, std::uint64_t memory_max);
    static int keep_error(TIFF* tiff, void* file, const char* module, const char* format,
                          va_list values);
    static tmsize_t read(thandle_t file, void* out, tmsize_t size);
    static tmsize_t write(thandle_t file, void* bytes, tmsize_t size);
    static toff_t seek(thandle_t file, toff_t offset, int whence);
    static toff_t size(thandle_t file);

    std::string_view read_;
    std::string written_;
    std::uint64_t at_ = 0;
    bool writes_ = false;
    std::string error_;
    std::unique_ptr<TIFF, Close> tiff_;  // the last: closing it may still write
};

}  // namespace strid::denoise
