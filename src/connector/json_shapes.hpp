// SPDX-License-Identifier: Apache-2.0
//
// Objects of one shape, one line after the other. A program that writes JSON lines writes the same
// bytes around the values each time: `{"time": `, `, "device": "`, ... A shape is what stood
// between the scalars of an object that was read with care, and which of them were asked for. A
// line with the same bytes there, and a plain scalar at each place, is therefore an object with the
// same members, and valid. Any other line matches no shape, and is read with care.
//
// A plain scalar is a number, true, false, null, or a string of ASCII without an escape. Private to
// the connector room; used by one JsonRow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strid::detail {

/// A member that was asked for.
struct JsonFound {
    static constexpr std::size_t none = ~std::size_t{0};

    std::string_view text = {};
    const char* fault = nullptr;  // why the member is no text; null: it is
    std::size_t scalar = none;    // the number of the scalar in the object that it is
};

class JsonShapes {
  public:
    /// The member is null.
    static constexpr const char* null_member = "null";

    /// Reads a line of a shape that is known: the members are as the careful reader would have
    /// them. False: there is none; then `found` means nothing. 8 bytes behind the line may be read.
    [[nodiscard]] bool read(const char* line, std::size_t bytes, std::vector<JsonFound>& found);

    /// A line is read with care: its scalars follow, from first to last, without spaces.
    void begin() noexcept { scalars_.clear(); }
    std::size_t add_scalar(std::string_view text) {
        scalars_.push_back(text);
        return scalars_.size() - 1;
    }
    /// The line was valid, and had these members.
    void keep(const char* line, std::size_t bytes, const std::vector<JsonFound>& found);

  private:
    /// Lines of one program that leaves out a member now and then.
    static constexpr std::size_t shapes_max = 4;
    static constexpr std::size_t scalars_max = 64;
    static constexpr std::size_t gap_bytes_max = 4096;

    struct Shape {
        std::vector<std::string> gaps;   // before each scalar, and behind the last
        std::vector<std::size_t> slots;  // of each scalar; none: it was not asked for
        std::vector<JsonFound> found;    // without the texts of this object
    };

    [[nodiscard]] static bool matches(const Shape& shape, const char* line, const char* end,
                                      std::vector<JsonFound>& found);

    std::vector<std::string_view> scalars_;
    std::array<Shape, shapes_max> shapes_;
    std::size_t last_ = 0;  // of the line before
    std::size_t kept_ = 0;  // shapes so far
};

}  // namespace strid::detail
