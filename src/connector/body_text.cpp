// SPDX-License-Identifier: Apache-2.0
#include "body_text.hpp"

#include <array>
#include <new>
#include <utility>

#include <zlib.h>

#include <strid/engine/base/text.hpp>

namespace strid::detail {

namespace {

constexpr int no_gzip = 400;
constexpr int too_long = 413;
constexpr int no_room = 429;

}  // namespace

/// Members of gzip, one behind the other.
class BodyText::Inflater {
  public:
    Inflater() {
        constexpr int gzip_window = 15 + 16;
        if (::inflateInit2(&stream_, gzip_window) != Z_OK) throw std::bad_alloc{};
    }
    ~Inflater() { ::inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    /// Hands what the piece gives to `take`, which returns 0 or a status.
    template <class Take>
    int add(std::string_view piece, const Take& take) {
        // zlib does not write there.
        stream_.next_in = reinterpret_cast<::Bytef*>(const_cast<char*>(piece.data()));
        stream_.avail_in = static_cast<::uInt>(piece.size());
        std::array<char, std::size_t{16} << 10> out{};
        do {
            if (is_at_end_ && stream_.avail_in == 0) return 0;
            if (std::exchange(is_at_end_, false)) ::inflateReset(&stream_);
            stream_.next_out = reinterpret_cast<::Bytef*>(out.data());
            stream_.avail_out = static_cast<::uInt>(out.size());
            const int code = ::inflate(&stream_, Z_NO_FLUSH);
            if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return no_gzip;
            is_at_end_ = code == Z_STREAM_END;
            const int status = take({out.data(), out.size() - stream_.avail_out});
            if (status != 0) return status;
        } while (stream_.avail_in != 0 || stream_.avail_out == 0);
        return 0;
    }
    [[nodiscard]] bool is_at_end() const noexcept { return is_at_end_; }

  private:
    ::z_stream stream_{};
    bool is_at_end_ = false;  // of a member
};

BodyText::BodyText(BodyQueue& queue, std::size_t bytes_max, bool is_gzip)
    : queue_(queue),
      bytes_max_(bytes_max),
      inflater_(is_gzip ? std::make_unique<Inflater>() : nullptr) {}

BodyText::~BodyText() {
    drop();
}

void BodyText::drop() {
    queue_.release(text_.size());
    text_ = std::string{};
}

int BodyText::append(std::string_view text) {
    if (text.size() > bytes_max_ - text_.size()) return too_long;
    if (!queue_.reserve(text.size())) return no_room;
    text_ += text;
    return 0;
}

int BodyText::add(std::string_view piece) {
    if (!inflater_) return append(piece);
    return inflater_->add(piece, [this](std::string_view text) { return append(text); });
}

// The first bytes of the input must not be taken for those of another encoding.
int BodyText::finish() {
    if (inflater_ && !inflater_->is_at_end()) return no_gzip;
    const bool is_text = text_.find('\0') == std::string::npos && !text_.starts_with("\xFF\xFE") &&
                         !text_.starts_with("\xFE\xFF");
    if (!is_text) return no_gzip;
    if (text_.starts_with(byte_order_mark)) {
        text_.erase(0, byte_order_mark.size());
        queue_.release(byte_order_mark.size());
    }
    if (text_.empty() || text_.back() == '\n') return 0;
    if (!queue_.reserve(1)) return no_room;
    text_ += '\n';
    return 0;
}

std::string BodyText::take() {
    return std::exchange(text_, {});
}

}  // namespace strid::detail
