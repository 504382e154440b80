// SPDX-License-Identifier: Apache-2.0
//
// Types as a programmer writes them, and text in JSON.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/base/json_text.hpp>
#include <strid/engine/base/type_name.hpp>

namespace strid {

namespace frames {
struct Image {};
template <class Pixel>
struct Raster {};
}  // namespace frames

namespace {

struct Hidden {};

TEST(TypeName, IsAsAPersonWritesIt) {
    EXPECT_EQ(type_name<int>(), "int");
    EXPECT_EQ(type_name<const std::string&>(), "std::string");
    EXPECT_EQ(type_name<std::string_view>(), "std::string_view");
    EXPECT_EQ(type_name<std::vector<std::string>>(), "std::vector<std::string>");
    EXPECT_EQ(type_name<std::unique_ptr<frames::Image>>(), "std::unique_ptr<strid::frames::Image>");
    EXPECT_EQ((type_name<std::map<int, std::vector<double>>>()),
              "std::map<int, std::vector<double>>");
    EXPECT_EQ((type_name<std::unordered_map<std::string, int>>()),
              "std::unordered_map<std::string, int>");
    EXPECT_EQ((type_name<std::optional<std::pair<int, long>>>()),
              "std::optional<std::pair<int, long>>");
    EXPECT_EQ(type_name<frames::Raster<std::vector<frames::Image>>>(),
              "strid::frames::Raster<std::vector<strid::frames::Image>>");
}

TEST(TypeName, LeavesUnnamedNamespacesOut) {
    EXPECT_EQ(type_name<Hidden>(), "strid::Hidden");
    EXPECT_EQ(type_name<std::vector<Hidden>>(), "std::vector<strid::Hidden>");
}

TEST(TypeName, OfWhatIsNoTypeIsTheTextItself) {
    EXPECT_EQ(readable_type_name("?"), "?");
}

TEST(JsonText, EscapesWhatJsonDoesNotTake) {
    EXPECT_EQ(json_text("plain"), R"("plain")");
    EXPECT_EQ(json_text("a \"b\" \\ c"), R"("a \"b\" \\ c")");
    EXPECT_EQ(json_text("line\n\ttab"), R"("line\u000a\u0009tab")");
}

}  // namespace
}  // namespace strid
