// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <strid/connector/csv_value.hpp>

namespace strid::detail {

namespace {

template <class T>
CsvFault read(std::string_view text, T& value, const NumberFormat& format) noexcept {
    text = without_plus(trimmed(text));
    const auto result = fast_float::from_chars_advanced(
        text.data(), text.data() + text.size(), value,
        fast_float::parse_options{fast_float::chars_format::general, format.decimal_point});
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
        // Newer versions of the library report overflow as an error, older ones as infinity.
        return result.ec == std::errc::result_out_of_range ? "out of range" : "not a number";
    }
    if (std::isfinite(value)) return nullptr;
    const bool is_word = text.find_first_of("iInN") != std::string_view::npos;
    if (!is_word) return "out of range";
    return format.non_finite == NonFinite::accept ? nullptr : "not a finite number";
}

template <class T>
bool scan(const char*& p, const char* end, T& value) noexcept {
    const auto result = fast_float::from_chars(p, end, value);
    p = result.ptr;
    return result.ec == std::errc{} && std::isfinite(value);
}

/// The usual value of a few decimals is found without a search: at most 15 digits name a double of
/// their own, so if n / 1,000,000 rounds to the value, then no shorter text does.
template <class T>
void append(std::string& out, T value) {
    char text[64];
    if constexpr (std::same_as<T, double>) {
        constexpr double scale = 1e6;
        constexpr std::ptrdiff_t places = 6;
        const double size = std::abs(value);
        if (size >= 1e-4 && size < 1e9) {
            const auto scaled = static_cast<std::int64_t>(size * scale + 0.5);
            if (static_cast<double>(scaled) / scale == size) {
                // Below 1 with a 1 before the decimals, which keeps their zeros.
                const bool is_fraction = size < 1;
                const fmt::format_int digits(is_fraction ? scaled + 1'000'000 : scaled);
                const char* const decimals = digits.data() + digits.size() - places;
                char* end = text;
                if (value < 0) *end++ = '-';
                if (is_fraction) {
                    *end++ = '0';
                } else {
                    end = std::copy(digits.data(), decimals, end);
                }
                *end = '.';
                end = std::copy_n(decimals, places, end + 1);
                while (end[-1] == '0') --end;
                if (end[-1] == '.') --end;
                out.append(text, static_cast<std::size_t>(end - text));
                return;
            }
        }
    }
    const char* const end = fmt::format_to(text, "{}", value);
    out.append(text, static_cast<std::size_t>(end - text));
}

}  // namespace

CsvFault read_floating(std::string_view text, double& value, const NumberFormat& format) noexcept {
    return read(text, value, format);
}
CsvFault read_floating(std::string_view text, float& value, const NumberFormat& format) noexcept {
    return read(text, value, format);
}

bool scan_any_floating(const char*& p, const char* end, double& value) noexcept {
    return scan(p, end, value);
}
bool scan_any_floating(const char*& p, const char* end, float& value) noexcept {
    return scan(p, end, value);
}

void append_floating(std::string& out, double value) {
    append(out, value);
}
void append_floating(std::string& out, float value) {
    append(out, value);
}
void append_floating(std::string& out, long double value) {
    append(out, value);
}

}  // namespace strid::detail
