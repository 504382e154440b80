// SPDX-License-Identifier: Apache-2.0
#include "json_shapes.hpp"

#include <bit>
#include <cstring>

namespace strid::detail {

namespace {

constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr std::uint64_t highest_bits = each_byte << 7;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Of 8 bytes of a string, the first in the lowest: the highest bit of each that may end it, be an
/// escape, or be no plain character. Bytes behind the first such one mean nothing.
std::uint64_t not_plain(std::uint64_t word) noexcept {
    const auto equals = [word](char c) {
        const std::uint64_t other = word ^ each_byte * static_cast<unsigned char>(c);
        return (other - each_byte) & ~other;
    };
    const std::uint64_t is_control = (word - each_byte * ' ') & ~word;
    return (equals('"') | equals('\\') | is_control | word) & highest_bits;
}

/// The closing quote of a plain string that begins at `p`; null: it is not plain.
const char* end_of_string(const char* p, const char* end) noexcept {
    static_assert(std::endian::native == std::endian::little);
    for (; p < end; p += sizeof(std::uint64_t)) {
        std::uint64_t word;
        std::memcpy(&word, p, sizeof word);
        if (const std::uint64_t found = not_plain(word); found != 0) {
            p += std::countr_zero(found) / 8;
            return p < end && *p == '"' ? p : nullptr;
        }
    }
    return nullptr;
}

/// RFC 8259, section 6. Null: it is no number. A byte that is no digit stands at `end`.
const char* end_of_number(const char* p) noexcept {
    const auto pass_digits = [&p] {
        const char* const begin = p;
        while (is_digit(*p)) ++p;
        return p != begin;
    };
    if (*p == '-') ++p;
    if (*p == '0') {
        ++p;
    } else if (!pass_digits()) {
        return nullptr;
    }
    if (*p == '.') {
        ++p;
        if (!pass_digits()) return nullptr;
    }
    if (*p == 'e' || *p == 'E') {
        ++p;
        if (*p == '+' || *p == '-') ++p;
        if (!pass_digits()) return nullptr;
    }
    return p;
}

/// Passes a plain scalar at `p`; false: there is none.
bool pass_scalar(const char*& p, const char* end, JsonFound& found) noexcept {
    const char* const begin = p;
    const auto pass = [&](std::string_view word) {
        if (static_cast<std::size_t>(end - p) < word.size()) return false;
        if (std::memcmp(p, word.data(), word.size()) != 0) return false;
        p += word.size();
        return true;
    };
    found.fault = nullptr;
    switch (*p) {
        case '"': {
            const char* const quote = end_of_string(p + 1, end);
            if (quote == nullptr) return false;
            p = quote + 1;
            found.text = {begin + 1, static_cast<std::size_t>(quote - begin - 1)};
            return true;
        }
        case 'n':
            found.text = {};
            found.fault = JsonShapes::null_member;
            return pass("null");
        case 't':
            if (!pass("true")) return false;
            break;
        case 'f':
            if (!pass("false")) return false;
            break;
        default:
            p = end_of_number(p);
            if (p == nullptr) return false;
    }
    found.text = {begin, static_cast<std::size_t>(p - begin)};
    return true;
}

}  // namespace

bool JsonShapes::read(const char* line, std::size_t bytes, std::vector<JsonFound>& found) {
    for (std::size_t i = 0; i != shapes_max; ++i) {
        const std::size_t shape = (last_ + i) % shapes_max;
        if (!matches(shapes_[shape], line, line + bytes, found)) continue;
        last_ = shape;
        return true;
    }
    return false;
}

bool JsonShapes::matches(const Shape& shape, const char* line, const char* end,
                         std::vector<JsonFound>& found) {
    if (shape.gaps.empty()) return false;
    const char* p = line;
    const auto pass = [&](const std::string& gap) {
        if (end - p < static_cast<std::ptrdiff_t>(gap.size())) return false;
        if (std::memcmp(p, gap.data(), gap.size()) != 0) return false;
        p += gap.size();
        return true;
    };
    if (!pass(shape.gaps.front())) return false;
    found = shape.found;
    for (std::size_t i = 0; i != shape.slots.size(); ++i) {
        JsonFound scalar;
        if (p >= end || !pass_scalar(p, end, scalar) || !pass(shape.gaps[i + 1])) return false;
        if (shape.slots[i] == JsonFound::none) continue;
        scalar.scalar = i;
        found[shape.slots[i]] = scalar;
    }
    return p == end;
}

void JsonShapes::keep(const char* line, std::size_t bytes, const std::vector<JsonFound>& found) {
    std::size_t gap_bytes = bytes;
    for (const std::string_view scalar : scalars_) gap_bytes -= scalar.size();
    if (scalars_.empty() || scalars_.size() > scalars_max || gap_bytes > gap_bytes_max) return;
    last_ = kept_++ % shapes_max;
    Shape& shape = shapes_[last_];
    shape.gaps.clear();
    const char* p = line;
    for (const std::string_view scalar : scalars_) {
        shape.gaps.emplace_back(p, scalar.data());
        p = scalar.data() + scalar.size();
    }
    shape.gaps.emplace_back(p, line + bytes);
    shape.slots.assign(scalars_.size(), JsonFound::none);
    shape.found = found;
    for (std::size_t slot = 0; slot != found.size(); ++slot) {
        if (found[slot].scalar == JsonFound::none) continue;
        shape.slots[found[slot].scalar] = slot;
        shape.found[slot].text = {};
    }
}

}  // namespace strid::detail
