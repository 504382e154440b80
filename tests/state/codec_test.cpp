// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/time.hpp>
#include <strid/state/codec.hpp>

#include "../support/seeds.hpp"

namespace mine {

/// A class of a user with private members, saved by two functions beside it.
class Interval {
  public:
    Interval() = default;
    Interval(int low, int high) : low_(low), high_(high) {}
    friend void save_state(strid::StateWriter& writer, const Interval& interval) {
        strid::state::save(writer, interval.low_);
        strid::state::save(writer, interval.high_);
    }
    friend void load_state(strid::StateReader& reader, Interval& interval) {
        strid::state::load(reader, interval.low_);
        strid::state::load(reader, interval.high_);
        if (interval.low_ > interval.high_) reader.refuse("is no interval");
    }
    bool operator==(const Interval&) const = default;

  private:
    int low_ = 0;
    int high_ = 0;
    std::unique_ptr<int> configuration_ = nullptr;

  public:
    Interval(const Interval& other) : low_(other.low_), high_(other.high_) {}
    Interval& operator=(const Interval& other) {
        low_ = other.low_;
        high_ = other.high_;
        return *this;
    }
};

}  // namespace mine

namespace strid::state {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Kept : public StateWriter::Receiver {
  public:
    void receive(std::span<const std::byte> bytes) override {
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> all;
};

template <class T>
std::vector<std::byte> saved(const T& value) {
    Kept kept;
    StateWriter writer{kept};
    save(writer, value);
    writer.flush();
    EXPECT_EQ(writer.written(), kept.all.size());
    return kept.all;
}
template <class T>
T loaded_from(std::span<const std::byte> bytes) {
    StateReader reader{bytes};
    T value{};
    load(reader, value);
    reader.expect_end();
    return value;
}
template <class T>
T there_and_back(const T& value) {
    return loaded_from<T>(saved(value));
}

struct Point {
    std::int8_t x;
    std::int64_t y;  // behind a gap
    bool operator==(const Point&) const = default;
};
enum class Colour : std::uint8_t { red, green };
struct Tree {
    int value = 0;
    std::vector<Tree> children;
    bool operator==(const Tree&) const = default;
};
struct Everything {
    bool truth = false;
    double number = 0;
    Colour colour = Colour::red;
    std::string text;
    std::vector<std::string> texts;
    std::vector<double> numbers;
    std::deque<Point> points;
    std::array<std::int16_t, 3> three{};
    std::optional<std::string> maybe;
    std::variant<int, std::string, Point> one;
    std::pair<int, std::string> pair;
    std::map<std::string, std::vector<Point>> by_name;
    std::unordered_map<std::uint64_t, double> by_number;
    std::set<int> set;
    EventTime time;
    mine::Interval interval;
    bool operator==(const Everything&) const = default;
};

class Random {
  public:
    explicit Random(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    template <class T>
    T bits() {
        const std::uint64_t word = random_();
        T value;
        std::memcpy(&value, &word, sizeof value);
        return value;
    }
    std::string text() {
        std::string made(below(20), ' ');
        for (char& c : made) c = static_cast<char>(below(256));
        return made;
    }
    Point point() { return {bits<std::int8_t>(), bits<std::int64_t>()}; }
    Everything everything() {
        Everything made;
        made.truth = below(2) == 1;
        made.number = static_cast<double>(bits<std::int64_t>());
        made.colour = below(2) == 1 ? Colour::green : Colour::red;
        made.text = text();
        for (auto n = below(4); n != 0; --n) made.texts.push_back(text());
        for (auto n = below(9); n != 0; --n) made.numbers.push_back(1.0 / bits<std::uint16_t>());
        for (auto n = below(4); n != 0; --n) made.points.push_back(point());
        for (auto& value : made.three) value = bits<std::int16_t>();
        if (below(2) == 1) made.maybe = text();
        switch (below(3)) {
            case 0:
                made.one = bits<int>();
                break;
            case 1:
                made.one = text();
                break;
            default:
                made.one = point();
                break;
        }
        made.pair = {bits<int>(), text()};
        for (auto n = below(4); n != 0; --n) made.by_name[text()].push_back(point());
        for (auto n = below(9); n != 0; --n) made.by_number[bits<std::uint64_t>()] = 0.5;
        for (auto n = below(9); n != 0; --n) made.set.insert(bits<int>());
        made.time = EventTime::of_ns(bits<std::int64_t>());
        made.interval = {static_cast<int>(below(5)), static_cast<int>(5 + below(5))};
        return made;
    }

  private:
    std::mt19937_64 random_;
};

TEST(StateCodec, ComesBackAsItWas) {
    for (const std::uint64_t seed : test::seeds(300)) {
        Random random{seed};
        const Everything value = random.everything();
        EXPECT_EQ(there_and_back(value), value) << "seed " << seed;
    }
}

TEST(StateCodec, SpecialNumbersComeBackAsTheyAre) {
    const std::vector<double> numbers{-0.0, std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::denorm_min()};
    EXPECT_EQ(there_and_back(numbers), numbers);
    EXPECT_TRUE(std::signbit(there_and_back(-0.0)));
    EXPECT_TRUE(std::isnan(there_and_back(std::numeric_limits<double>::quiet_NaN())));
}

TEST(StateCodec, GapsBetweenMembersAreNotSaved) {
    EXPECT_EQ(saved(Point{1, 2}).size(), 9U);
    EXPECT_EQ(saved(std::vector<Point>(3)).size(), 8U + 3 * 9U);
}

TEST(StateCodec, TheBytesAreWhatTheHeaderSays) {
    const auto bytes = saved(std::string{"ab"});
    EXPECT_THAT(bytes, ElementsAre(std::byte{2}, std::byte{0}, std::byte{0}, std::byte{0},
                                   std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},
                                   std::byte{'a'}, std::byte{'b'}));
}

TEST(StateCodec, PiecesAreHandedOnBeforeTheEnd) {
    Kept kept;
    StateWriter writer{kept};
    for (int i = 0; i != 100'000; ++i) save(writer, i);
    EXPECT_GE(kept.all.size(), 300'000U);
    const std::string long_text(1'000'000, 'x');
    save(writer, long_text);
    writer.flush();
    EXPECT_EQ(kept.all.size(), 400'000U + 8 + 1'000'000);
}

// ---- types
// ---------------------------------------------------------------------------------------

struct WithPointer {
    int* where;
};
struct WithView {
    std::string_view text;
};
class Counted {
  public:
    explicit Counted(int limit = 0) : limit_(limit) {}
    auto state() { return std::tie(count_, seen_); }
    void see(const std::string& text) {
        ++count_;
        seen_.push_back(text);
    }
    [[nodiscard]] int limit() const { return limit_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] const std::vector<std::string>& seen() const { return seen_; }

  private:
    int limit_;  // configuration
    int count_ = 0;
    std::vector<std::string> seen_;
};

TEST(StateCodec, ValuesThatPointElsewhereHaveNone) {
    static_assert(!has_codec<int*>());
    static_assert(!has_codec<WithPointer>());
    static_assert(!has_codec<WithView>());
    static_assert(!has_codec<std::string_view>());
    static_assert(!has_codec<std::vector<std::pair<int, const char*>>>());
    static_assert(!has_codec<std::map<int, WithPointer>>());
    static_assert(!has_codec<std::shared_ptr<int>>());
    static_assert(!has_codec<std::optional<WithPointer>>());
    static_assert(!has_codec<std::span<int>>());
    static_assert(has_codec<Everything>());
    static_assert(has_codec<Tree>());
    static_assert(has_codec<Counted>());
    static_assert(has_codec<mine::Interval>());
}

TEST(StateCodec, OfAClassWithAStateTheRestStays) {
    Counted counted{7};
    counted.see("a");
    counted.see("b");
    const auto bytes = saved(counted);
    Counted fresh{7};
    StateReader reader{bytes};
    load(reader, fresh);
    EXPECT_EQ(fresh.limit(), 7);
    EXPECT_EQ(fresh.count(), 2);
    EXPECT_THAT(fresh.seen(), ElementsAre("a", "b"));
}

TEST(StateCodec, WhatIsOwnedIsSavedWithIt) {
    std::map<int, std::unique_ptr<Tree>> trees;
    trees[1] = std::make_unique<Tree>(Tree{3, {{4, {}}, {5, {{6, {}}}}}});
    trees[2] = nullptr;
    const auto back = loaded_from<std::map<int, std::unique_ptr<Tree>>>(saved(trees));
    EXPECT_EQ(*back.at(1), *trees[1]);
    EXPECT_EQ(back.at(2), nullptr);
}

// ---- damage
// --------------------------------------------------------------------------------------

TEST(StateCodec, CutBytesAreAnError) {
    const auto bytes = saved(Random{3}.everything());
    for (std::size_t length = 0; length != bytes.size(); ++length) {
        EXPECT_THROW((void)loaded_from<Everything>(std::span(bytes).first(length)), StateError)
            << "of " << bytes.size() << " bytes " << length;
    }
}

TEST(StateCodec, BytesThatAreLeftAreAnError) {
    auto bytes = saved(1);
    bytes.push_back(std::byte{0});
    EXPECT_THROW((void)loaded_from<int>(bytes), StateError);
}

TEST(StateCodec, NoLengthTakesMoreMemoryThanThereAreBytes) {
    const auto bytes = saved(std::uint64_t{1} << 60U);
    try {
        (void)loaded_from<std::vector<std::string>>(bytes);
        FAIL();
    } catch (const StateError& error) {
        EXPECT_THAT(error.what(), HasSubstr("1152921504606846976 elements"));
    }
    EXPECT_THROW((void)loaded_from<std::vector<double>>(bytes), StateError);
    EXPECT_THROW((void)loaded_from<std::string>(bytes), StateError);
    EXPECT_THROW((void)(loaded_from<std::map<int, int>>(bytes)), StateError);
}

TEST(StateCodec, ImpossibleValuesAreAnError) {
    EXPECT_THROW((void)loaded_from<bool>(saved(std::uint8_t{2})), StateError);
    EXPECT_THROW((void)loaded_from<std::optional<int>>(saved(std::uint64_t{2})), StateError);
    using Either = std::variant<int, double>;
    EXPECT_THROW((void)loaded_from<Either>(saved(std::uint64_t{2})), StateError);
    const std::vector<std::pair<int, int>> twice{{1, 2}, {1, 3}};
    EXPECT_THROW((void)(loaded_from<std::map<int, int>>(saved(twice))), StateError);
    EXPECT_THROW((void)loaded_from<mine::Interval>(saved(std::pair{5, 4})), StateError);
}

TEST(StateCodec, DeepNestingIsAnErrorAndNoOverflowOfTheStack) {
    Tree tree;
    for (std::size_t i = 0; i != 2 * StateReader::nesting_max; ++i) {
        Tree parent;
        parent.children.push_back(std::move(tree));
        tree = std::move(parent);
    }
    const auto bytes = saved(tree);
    EXPECT_THROW((void)loaded_from<Tree>(bytes), StateError);
}

TEST(StateCodec, DamagedBytesNeverDoMoreThanThrow) {
    for (const std::uint64_t seed : test::seeds(300)) {
        Random random{seed};
        auto bytes = saved(random.everything());
        for (auto n = 1 + random.below(3); n != 0; --n) {
            bytes[random.below(bytes.size())] = std::byte(random.below(256));
        }
        try {
            (void)loaded_from<Everything>(bytes);
        } catch (const StateError&) {
        }
    }
}

}  // namespace
}  // namespace strid::state
