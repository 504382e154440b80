// SPDX-License-Identifier: Apache-2.0
//
// Layouts of types of state: what a struct has in it is seen wherever the struct stands.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/state/layouts.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>

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

struct RangeOfRelease1 {
    float least = 0;
};
struct RangeOfRelease2 {
    double least = 0;
    using saved_before = RangeOfRelease1;
    void go_on_from(const RangeOfRelease1& before) { least = before.least; }
};
struct RangeNow {
    double least = 0;
    double greatest = 0;
    using saved_before = RangeOfRelease2;
    void go_on_from(const RangeOfRelease2& before) {
        if (before.least < 0) throw std::invalid_argument("least is negative");
        least = greatest = before.least;
    }
};
struct Ranges {
    std::vector<RangeNow> all;
    RangeNow last;
};

TEST(Layouts, AnEarlierVersionIsFoundByWhatWasStored) {
    const auto versions_in = [](const std::string& stored) {
        state::Layouts layouts(stored);
        layouts.add<Ranges>();
        EXPECT_EQ(layouts.text().find("Release"), std::string::npos) << layouts.text();
        return layouts.versions().of(typeid(RangeNow));
    };
    state::Layouts now;
    now.add<Ranges>();
    const std::string members = "RangeNow{double, double}";
    const auto stored_with = [&](const std::string& others) {
        std::string text = now.text();
        return text.replace(text.find(members), members.size(), others);
    };
    EXPECT_EQ(versions_in(now.text()), 0U);
    EXPECT_EQ(versions_in(stored_with("RangeNow{double}")), 1U);
    EXPECT_EQ(versions_in(stored_with("RangeNow{float}")), 2U);
}

/// Bytes as a program had them whose type was `Before`.
template <class Before>
RangeNow migrated(const Before& before, std::size_t version) {
    const auto bytes = state::bytes_of(std::vector{before, before});
    state::StoredVersions versions;
    versions.set(typeid(RangeNow), version);
    StateReader reader{bytes};
    reader.use(versions);
    const auto all = state::loaded<std::vector<RangeNow>>(reader);
    reader.expect_end();
    EXPECT_EQ(all.size(), 2U);
    return all.back();
}

/// Its name has that of a lambda in it, whose number is left out of what is stored.
template <class F>
struct Made {
    std::int64_t sum = 0;
    double least = 0;
    using saved_before = RangeOfRelease1;
    void go_on_from(const RangeOfRelease1& before) { least = before.least; }
};

TEST(Layouts, TheNumberOfALambdaIsNoVersion) {
    const auto lambda = [] {};
    using Type = Made<decltype(lambda)>;
    state::Layouts now;
    now.add<Type>();
    EXPECT_EQ(now.text().find('#'), std::string::npos) << now.text();
    state::Layouts again(now.text());
    again.add<Type>();
    EXPECT_EQ(again.versions().of(typeid(Type)), 0U);
}

TEST(Layouts, AnEarlierVersionIsMigrated) {
    const RangeNow from_2 = migrated(RangeOfRelease2{.least = 7}, 1);
    EXPECT_EQ(std::tie(from_2.least, from_2.greatest), std::tuple(7.0, 7.0));
    const RangeNow from_1 = migrated(RangeOfRelease1{.least = 3}, 2);
    EXPECT_EQ(std::tie(from_1.least, from_1.greatest), std::tuple(3.0, 3.0));
    const RangeNow same = migrated(RangeNow{.least = 1, .greatest = 2}, 0);
    EXPECT_EQ(std::tie(same.least, same.greatest), std::tuple(1.0, 2.0));
    try {
        (void)migrated(RangeOfRelease2{.least = -1}, 1);
        FAIL() << "it is taken";
    } catch (const StateError& error) {
        EXPECT_NE(std::string(error.what()).find("RangeNow is refused: least is negative"),
                  std::string::npos)
            << error.what();
    }
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
