// SPDX-License-Identifier: Apache-2.0
#include "png_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <zlib.h>

#include "interleaved.hpp"
#include "png_chunks.hpp"

namespace strid::denoise {

namespace {

using Bytes = Array<unsigned char>;

constexpr std::size_t filtered_rows_at_once = 16;
constexpr std::size_t part_bytes = 128U << 10;
constexpr std::size_t dictionary_bytes = 32U << 10;
constexpr std::size_t filter_count = 5;

struct Layout {
    std::size_t width, height, pixel_bytes;
    [[nodiscard]] std::size_t row_bytes() const { return width * pixel_bytes; }
    [[nodiscard]] std::size_t filtered_row_bytes() const { return row_bytes() + 1; }
};

int paeth(int left, int above, int corner) {
    const int to_left = std::abs(above - corner);
    const int to_above = std::abs(left - corner);
    const int to_corner = std::abs(left + above - 2 * corner);
    const int nearer = to_above < to_left ? above : left;
    return std::min(to_left, to_above) <= to_corner ? nearer : corner;
}

/// Filters a row in one way; returns the sum of the results as signed bytes, without their signs.
template <int filter>
std::uint64_t filtered(const unsigned char* row, const unsigned char* above, std::size_t pixel,
                       std::size_t size, unsigned char* out) {
    std::uint32_t sum = 0;
    std::uint64_t total = 0;
    constexpr std::size_t step = 1U << 16;  // sums of so many fit
    for (std::size_t first = 0; first < size; first += step, total += sum, sum = 0) {
        const std::size_t end = std::min(size, first + step);
        for (std::size_t i = first; i < end; ++i) {
            const int left = row[i - pixel];
            int guess = 0;
            if constexpr (filter == 1) guess = left;
            if constexpr (filter == 2) guess = above[i];
            if constexpr (filter == 3) guess = (left + above[i]) / 2;
            if constexpr (filter == 4) guess = paeth(left, above[i], above[i - pixel]);
            const auto difference = static_cast<unsigned char>(row[i] - guess);
            out[i] = difference;
            sum += std::min<unsigned>(difference, 256U - difference);
        }
    }
    return total;
}

/// Writes the number of the filter whose results are the smallest, as libpng chooses it, and the
/// results.
class RowFilter {
  public:
    explicit RowFilter(const Layout& layout)
        : layout_(layout),
          row_(layout.pixel_bytes + layout.row_bytes()),
          above_(row_.size(), 0),
          tried_(filter_count, Bytes(layout.row_bytes())) {}

    void begin(const Picture& picture, std::size_t y) {
        std::ranges::fill(row_, static_cast<unsigned char>(0));
        if (y > 0) join_row(picture, y - 1, SampleForm::two_big_endian, &row_[layout_.pixel_bytes]);
    }
    void write(const Picture& picture, std::size_t y, unsigned char* out) {
        std::swap(row_, above_);
        const std::size_t pixel = layout_.pixel_bytes;
        join_row(picture, y, SampleForm::two_big_endian, &row_[pixel]);
        const std::array sums = {run<0>(), run<1>(), run<2>(), run<3>(), run<4>()};
        const auto best = std::ranges::min_element(sums) - sums.begin();
        *out = static_cast<unsigned char>(best);
        std::ranges::copy(tried_[static_cast<std::size_t>(best)], out + 1);
    }

  private:
    template <int filter>
    std::uint64_t run() {
        const std::size_t pixel = layout_.pixel_bytes;
        return filtered<filter>(&row_[pixel], &above_[pixel], pixel, layout_.row_bytes(),
                                tried_[filter].data());
    }

    Layout layout_;
    Bytes row_, above_;
    std::vector<Bytes> tried_;
};

Bytes filter_rows(const Picture& picture, const Layout& layout, const Loop& loop) {
    Bytes out(layout.filtered_row_bytes() * layout.height);
    for_parts(loop, layout.height, filtered_rows_at_once, [&](std::size_t begin, std::size_t end) {
        RowFilter filter(layout);
        filter.begin(picture, begin);
        for (std::size_t y = begin; y < end; ++y) {
            filter.write(picture, y, &out[y * layout.filtered_row_bytes()]);
        }
    });
    return out;
}

struct Part {
    Bytes compressed;
    uLong sum = 0;
};

/// A part of a stream of deflate, which ends at a byte; the last one ends the stream.
Part compress(const Bytes& data, std::size_t begin, std::size_t end, int level) {
    z_stream stream{};
    if (::deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 9, Z_FILTERED) != Z_OK) {
        throw std::bad_alloc();
    }
    const auto end_stream = [](z_stream* ended) { ::deflateEnd(ended); };
    const std::unique_ptr<z_stream, decltype(end_stream)> guard(&stream, end_stream);
    if (begin > 0) {
        const std::size_t before = std::min(begin, dictionary_bytes);
        ::deflateSetDictionary(&stream, &data[begin - before], static_cast<uInt>(before));
    }
    Part part;
    // A flush adds an empty block and up to a byte of bits.
    part.compressed.resize(::deflateBound(&stream, static_cast<uLong>(end - begin)) + 16);
    stream.next_in = const_cast<Bytef*>(&data[begin]);
    stream.avail_in = static_cast<uInt>(end - begin);
    stream.next_out = part.compressed.data();
    stream.avail_out = static_cast<uInt>(part.compressed.size());
    ::deflate(&stream, end == data.size() ? Z_FINISH : Z_SYNC_FLUSH);
    part.compressed.resize(stream.total_out);
    part.sum = ::adler32_z(1, &data[begin], end - begin);
    return part;
}

std::string header(const Picture& picture) {
    constexpr std::array<char, 5> colour_of = {0, 0, 4, 2, 6};
    std::string out;
    append_number(out, static_cast<std::uint32_t>(picture.planes.front().width));
    append_number(out, static_cast<std::uint32_t>(picture.planes.front().height));
    out += static_cast<char>(picture.sample_max > 255 ? 16 : 8);
    out += colour_of[picture.planes.size()];
    return out.append(3, '\0');  // deflate, the five filters, not interlaced
}

}  // namespace

std::string write_png(const Picture& picture, std::string_view chunks, int level,
                      const Loop& loop) {
    const Plane& plane = picture.planes.front();
    const std::size_t sample_bytes = picture.sample_max > 255 ? 2 : 1;
    const Layout layout{plane.width, plane.height, picture.planes.size() * sample_bytes};
    const Bytes data = filter_rows(picture, layout, loop);
    std::vector<Part> parts((data.size() + part_bytes - 1) / part_bytes);
    for_parts(loop, data.size(), part_bytes, [&](std::size_t begin, std::size_t end) {
        parts[begin / part_bytes] = compress(data, begin, end, level);
    });

    std::string out(png_signature);
    append_chunk(out, "IHDR", header(picture));
    out += chunks;
    uLong sum = 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool is_last = i + 1 == parts.size();
        const std::size_t size = is_last ? data.size() - i * part_bytes : part_bytes;
        sum = ::adler32_combine(sum, parts[i].sum, static_cast<z_off_t>(size));
        std::string idat = i == 0 ? "\x78\x9c" : "";  // a window of 32 KiB
        idat.append(reinterpret_cast<const char*>(parts[i].compressed.data()),
                    parts[i].compressed.size());
        if (is_last) append_number(idat, static_cast<std::uint32_t>(sum));
        append_chunk(out, "IDAT", idat);
    }
    append_chunk(out, "IEND", "");
    return out;
}

}  // namespace strid::denoise
