// SPDX-License-Identifier: Apache-2.0
//
// The elements of vectors and streams of several types: objects of four classes with a virtual
// function that does little and one that does much, as in paper 5, "Array of pointer performance".
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "tables.hpp"

namespace strid::bench {

/// The many computations: they depend on each other and take about 100 ns, as the paper's.
[[nodiscard]] constexpr std::uint64_t worked(std::uint64_t number) noexcept {
    for (int i = 0; i != 64; ++i) number = number * 0x9e3779b97f4a7c15 + (number >> 29);
    return number;
}

class Object {
  public:
    virtual ~Object() = default;
    [[nodiscard]] virtual std::uint64_t small() const = 0;
    [[nodiscard]] virtual std::uint64_t large() const = 0;

  protected:
    Object() = default;
    Object(const Object&) = default;
    Object(Object&&) = default;
    Object& operator=(const Object&) = default;
    Object& operator=(Object&&) = default;
};

/// Four classes of 24 to 48 bytes; each kind answers with another factor.
template <int kind>
class Kind final : public Object {
  public:
    explicit Kind(std::uint64_t number) : number_(number) {}
    [[nodiscard]] std::uint64_t small() const override { return number_ + kind; }
    [[nodiscard]] std::uint64_t large() const override { return worked(number_ + kind); }

  private:
    std::uint64_t number_;
    std::uint64_t others_[kind] = {};
};
using AnyKind = std::variant<Kind<1>, Kind<2>, Kind<3>, Kind<4>>;
inline constexpr std::size_t largest_bytes = sizeof(Kind<4>);

[[nodiscard]] constexpr int kind_of(std::size_t i) noexcept {
    return static_cast<int>(mixed(i) >> 62) + 1;
}
/// `make(Kind<k>)` for the object of that number.
template <class Make>
auto of_kind(std::size_t i, Make&& make) {
    switch (kind_of(i)) {
        case 1:
            return make(Kind<1>(i));
        case 2:
            return make(Kind<2>(i));
        case 3:
            return make(Kind<3>(i));
        default:
            return make(Kind<4>(i));
    }
}

enum class Function { small, large };

template <Function function, class O>
[[nodiscard]] std::uint64_t call(const O& object) {
    return function == Function::small ? object.small() : object.large();
}

/// The answers, from the numbers and kinds alone.
struct Expected {
    std::uint64_t small = 0;
    std::uint64_t large = 0;
};
[[nodiscard]] inline Expected expected_of(std::size_t count) {
    Expected expected;
    for (std::size_t i = 0; i != count; ++i) {
        const std::uint64_t number = i + static_cast<std::uint64_t>(kind_of(i));
        expected.small += number;
        expected.large += worked(number);
    }
    return expected;
}

}  // namespace strid::bench
