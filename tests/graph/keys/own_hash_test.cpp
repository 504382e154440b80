// SPDX-License-Identifier: Apache-2.0
//
// Keys of a type with a std::hash against a std::map of the same records.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "counted_keys.hpp"

namespace strid {
namespace {

class Account {
  public:
    explicit Account(std::string number) : number_(std::move(number)) {}
    [[nodiscard]] const std::string& number() const { return number_; }
    friend auto operator<=>(const Account&, const Account&) = default;

  private:
    std::string number_;
};

}  // namespace
}  // namespace strid

template <>
struct std::hash<strid::Account> {
    std::size_t operator()(const strid::Account& account) const noexcept {
        return std::hash<std::string>{}(account.number());
    }
};

namespace strid {
namespace {

TEST(Keys, MayHaveAHashOfTheirOwn) {
    test::are_counted([](std::uint64_t n) { return Account{std::to_string(n % 11)}; });
}

TEST(Keys, HashByTheirOwnHash) {
    EXPECT_NE(hash_of(Account{"1"}), hash_of(Account{"2"}));
}

}  // namespace
}  // namespace strid
