// SPDX-License-Identifier: Apache-2.0
//
// The text in records and states that the compiler finds, and the aggregates that it decomposes.
#include <any>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/base/members.hpp>
#include <strid/engine/base/text_fields.hpp>

namespace strid {
namespace {

struct Plain {
    int number;
    std::array<char, 16> name;
};
struct Text {
    char name[8];
    std::string_view text;
};
struct Nested {
    int number;
    struct {
        std::optional<Text> text;
    } inner;
};
struct Based : Plain {
    std::string_view text;
};
struct Tree {
    std::vector<Tree> children;
    std::string_view name;
};
struct Anything {
    std::any any;
    std::function<void()> function;
    std::shared_ptr<int> owner;
    int bits : 3;
};
struct MovedOnly {
    std::unique_ptr<int> owner;
    std::any any;
};
struct Literal {
    static constexpr bool points_to_text = false;
    std::string_view text;
};
class Hidden {
  public:
    static constexpr bool points_to_text = true;

  private:
    [[maybe_unused]] std::string_view text_;
};
struct NoDefault {
    explicit NoDefault(int) {}
};
struct NeedsAll {
    NoDefault first;
    std::string_view text;
};

static_assert(!points_to_text<int> && !points_to_text<Plain> && !points_to_text<std::string>);
static_assert(points_to_text<std::string_view> && points_to_text<std::span<const int>>);
static_assert(points_to_text<Text> && points_to_text<Nested> && points_to_text<Based>);
static_assert(points_to_text<Tree> && points_to_text<Hidden> && !points_to_text<Literal>);
static_assert(!points_to_text<Anything>);
static_assert(points_to_text<std::array<std::string_view, 2>> && points_to_text<Text[3]>);
static_assert(points_to_text<std::vector<std::string_view>> && points_to_text<std::deque<Text>>);
static_assert(points_to_text<std::map<std::string_view, int>>);
static_assert(points_to_text<std::unordered_map<int, std::pair<int, std::string_view>>>);
static_assert(!points_to_text<std::map<std::string, int>>);

using detail::member_count;
static_assert(member_count<Plain>() == 2 && member_count<Text>() == 2);
static_assert(member_count<Nested>() == 2 && member_count<Tree>() == 2);
static_assert(member_count<Anything>() == 4 && member_count<MovedOnly>() == 2);
static_assert(!points_to_text<MovedOnly>);
static_assert(member_count<Based>() == 0 && member_count<NeedsAll>() == 2);
static_assert(
    std::is_same_v<detail::MembersOf<Text>, detail::MemberList<char[8], std::string_view>>);

TEST(Members, AreVisitedInTheirOrder) {
    struct Record {
        int a;
        char b[2][3];
        std::string c;
    };
    Record record{1, {"xy", "z"}, "text"};
    detail::visit_members(record, [](int& a, auto& b, std::string& c) {
        EXPECT_STREQ(b[1], "z");
        a = static_cast<int>(c.size());
    });
    EXPECT_EQ(record.a, 4);
}

}  // namespace
}  // namespace strid
