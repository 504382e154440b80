// SPDX-License-Identifier: Apache-2.0
//
// Layouts of types of state: what a struct has in it is seen wherever the struct stands.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/state/layouts.hpp>
#include <strid/state/bytes.hpp>

namespace strid {
namespace {

struct Inner {
    std::int16_t small = 0;
    double large = 0;
};
struct Reading {
    std::uint32_t sensor = 0;
    Inner inner;
    std::string text;
};
struct Branch {
    std::vector<Branch> branches;
    int leaf = 0;
};
struct Range {
    double least = 0;
    double greatest = 0;
};
struct Rows {
    Inner parts[3];
    int count = 0;
};
struct Derived : Range {
    int more = 0;
};
struct Empty {};

/// Names a part of itself; `cache` is computed again.
class Named {
  public:
    auto state() { return std::tie(kept_); }

  private:
    std::map<std::string, Inner> kept_;
    Reading cache_;
};
/// Its bytes are its own affair, and those of its argument are not.
template <class T>
struct OwnCodec {
    T value;
    Branch unseen;
    void save(StateWriter&) const {}
    void load(StateReader&) {}
};
class Recursive {
  public:
    auto state() { return std::tie(parts_); }

  private:
    std::vector<Recursive> parts_;
};

template <class T>
std::string layouts_of() {
    state::Layouts layouts;
    layouts.add<T>();
    std::string text = layouts.text();
    const std::string here = "strid::";
    for (auto at = text.find(here); at != std::string::npos; at = text.find(here)) {
        text.erase(at, here.size());
    }
    return text;
}

TEST(Layouts, AnAggregateHasThoseOfItsMembers) {
    EXPECT_EQ(layouts_of<Inner>(), " Inner{short, double}");
    EXPECT_EQ(layouts_of<Range>(), " Range{double, double}");
    EXPECT_EQ(layouts_of<Rows>(), " Rows{Inner [3], int} Inner{short, double}");
    EXPECT_EQ(layouts_of<Derived>(), " Derived{24 bytes}");
    EXPECT_EQ(layouts_of<Reading>(),
              " Reading{unsigned int, Inner, std::string} Inner{short, double}");
    EXPECT_EQ(layouts_of<Branch>(), " Branch{std::vector<Branch>, int}");
}

TEST(Layouts, ContainersTuplesAndPointersHaveThoseOfTheirElements) {
    const std::string inner = " Inner{short, double}";
    EXPECT_EQ(layouts_of<std::vector<Inner>>(), inner);
    EXPECT_EQ((layouts_of<std::map<std::string, std::optional<Inner>>>()), inner);
    EXPECT_EQ((layouts_of<std::tuple<int&, std::vector<std::array<Inner, 3>>&>>()), inner);
    EXPECT_EQ((layouts_of<std::unique_ptr<std::pair<Inner, Inner>>>()), inner);
}

TEST(Layouts, AClassHasThoseOfWhatItsStateNames) {
    EXPECT_EQ(layouts_of<Named>(), " Inner{short, double}");
    EXPECT_EQ(layouts_of<OwnCodec<Inner>>(), " Inner{short, double}");
}

TEST(Layouts, TypesWithoutMembersHaveNone) {
    EXPECT_EQ(layouts_of<int>(), "");
    EXPECT_EQ(layouts_of<Empty>(), "");
    EXPECT_EQ(layouts_of<std::vector<std::string>>(), "");
    EXPECT_EQ(layouts_of<Recursive>(), "");
}

}  // namespace
}  // namespace strid
