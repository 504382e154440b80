// SPDX-License-Identifier: Apache-2.0
//
// The start of a call as text: `2026-03-02T08:15:30`, maybe with a fraction of a second, which is
// left out, and a zone. The date that was read last is kept, as calls of a day come together: this
// is why base/time_text.hpp does not read them. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strid::apps::voip_stream {

enum class [[nodiscard]] StartFault : std::uint8_t { none, no_time, out_of_range };

class StartReader {
  public:
    /// The first second of 2106: before it all starts fit into 32 bits.
    static constexpr std::int64_t end_of_time = 4'291'747'200;

    /// Seconds since 1970, in UTC.
    StartFault read(std::string_view text, std::uint32_t& start) noexcept;

  private:
    bool read_date(const char* text) noexcept;

    std::array<char, 10> date_{};
    std::int64_t day_ = 0;  // its first second
};

}  // namespace strid::apps::voip_stream
