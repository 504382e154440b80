// SPDX-License-Identifier: Apache-2.0
//
// Keys that are text of a file, read in chunks so small that the text of a record is overwritten
// soon after its batch is done: what comes out behind windows, however late and slowly, names keys
// that the file has.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "../../support/folder.hpp"
#include "../windows.hpp"

namespace strid {
namespace {

using window::TimeWindows;

struct Visit {
    std::string_view visitor;
    std::int64_t at;
};
struct Seen {
    std::string visitor;
    std::uint64_t count;
};

constexpr auto time_of = [](const Visit& visit) { return EventTime::of_ns(visit.at); };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::int64_t visits_at_full_speed = 8'000;
#else
constexpr std::int64_t visits_at_full_speed = 40'000;
#endif
const std::int64_t visits = test::perturbed ? 4'000 : visits_at_full_speed;

/// Every visitor comes once; one in three is late by several windows.
class VisitsInAFile {
  public:
    VisitsInAFile() {
        std::ofstream file(path());
        for (std::int64_t i = 0; i != visits; ++i) {
            const std::int64_t at = i % 3 == 0 ? std::max<std::int64_t>(0, i * 10 - 5'000) : i * 10;
            const std::string visitor = "visitor-" + std::to_string(i) + "-of-many";
            file << visitor << ',' << at << '\n';
            counts_[visitor] = 1;
        }
    }

    /// The results when `shared` makes WindowResults of the visits, in every mode.
    template <class Shared>
    void are_counted_by(const Shared& shared) const {
        for (const std::uint64_t seed : test::seeds(6)) {
            Graph graph{"visits"};
            CsvOptions options;
            options.text.chunk_bytes = 2 << 10;
            auto seen = std::make_shared<Collected<Seen>>();
            shared(graph.source(csv_file<Visit>(path(), options))
                       .event_time(time_of, MonotonousTime{}))
                .map([](const auto& result) {
                    for (volatile int i = 0; i < 1'000;) i = i + 1;  // slower than what is before
                    return Seen{std::string(result.key), result.value};
                })
                .sink(collect_into(seen));
            run(graph, test::run_options(seed));
            std::map<std::string, std::uint64_t> counts;
            for (const Seen& one : seen->records()) counts[one.visitor] += one.count;
            ASSERT_EQ(counts, counts_) << "seed " << seed;
        }
    }

  private:
    [[nodiscard]] std::string path() const { return folder_.file("visits.csv"); }

    test::Folder folder_;
    std::map<std::string, std::uint64_t> counts_;
};

const TimeWindows windows = TimeWindows::tumbling(Duration{1'000});
const WindowOptions patient{.parallelism = 2, .lateness = Duration{1'000'000}};

TEST(TextThatGoes, IsRightBehindWindowsByKey) {
    VisitsInAFile{}.are_counted_by([](auto visits) {
        return std::move(visits).template key_by<&Visit::visitor>().window(windows, window::count(),
                                                                           patient);
    });
}

TEST(TextThatGoes, IsRightBehindPanedWindows) {
    VisitsInAFile{}.are_counted_by([](auto visits) {
        return std::move(visits).template key_by<&Visit::visitor>().window(windows, window::count(),
                                                                           share::paned, patient);
    });
}

TEST(TextThatGoes, IsRightBehindMapReduceWindows) {
    VisitsInAFile{}.are_counted_by([](auto visits) {
        return std::move(visits).template key_by<&Visit::visitor>().window(
            windows, window::count(), share::map_reduce, patient);
    });
}

TEST(TextThatGoes, IsRightBehindParallelWindows) {
    VisitsInAFile{}.are_counted_by([](auto visits) {
        return std::move(visits).template key_by<&Visit::visitor>().window(windows, window::count(),
                                                                           share::farmed, patient);
    });
}

TEST(TextThatGoes, IsRightBehindWindowsOfCounts) {
    VisitsInAFile{}.are_counted_by([](auto visits) {
        return std::move(visits).template key_by<&Visit::visitor>().window(
            window::CountWindows::tumbling(10), window::count(), share::farmed, {.parallelism = 2});
    });
}

struct Named {
    int key;
    int window;
    int value;
    std::string_view name;
};
static_assert(points_to_text<Visit> && points_to_text<Named> && !points_to_text<Seen>);
static_assert(points_to_text<WindowResult<std::string_view, int>>);
static_assert(points_to_text<WindowResult<std::pair<int, std::string_view>, int>>);
static_assert(points_to_text<WindowResult<int, std::optional<std::string_view>>>);
static_assert(!points_to_text<WindowResult<int, std::string>>);
static_assert(points_to_text<std::variant<int, std::tuple<std::string_view>>>);
static_assert(!points_to_text<std::tuple<int, std::string>>);

/// Sends a record with a chunk of its own, then others, until no other reference to that chunk is
/// left.
struct FirstAndOthers {
    using record_type = std::string_view;
    static constexpr SourceTraits traits{.hears = events<>};

    std::shared_ptr<memory::TextPool> pool = std::make_shared<memory::TextPool>(64, 64);
    memory::TextReference first = {};
    std::int64_t give_up_ns = 0;
    std::shared_ptr<bool> came_home = std::make_shared<bool>(false);

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t) {
        if (!first) {
            first = pool->try_lease();
            give_up_ns = now_ns() + 20'000'000'000;
            emit.keep_alive(first);
            emit(std::string_view("first"));
            return SourceStatus::more;
        }
        const memory::TextReference other = pool->try_lease();
        if (!other) return SourceStatus::more;
        emit.keep_alive(other);
        emit(std::string_view("other"));
        *came_home = first.use_count() == 1;
        return *came_home || now_ns() > give_up_ns ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(give_up_ns); }
};

TEST(TextThatGoes, IsNotHeldByANodeThatNothingComesToAnyMore) {
    for (const std::uint64_t seed : test::seeds(6)) {
        Graph graph{"branches"};
        const FirstAndOthers source;
        auto branches = graph.source(source).rebalance().split(
            2, [](std::string_view text) -> std::size_t { return text == "first" ? 0 : 1; });
        for (std::size_t branch = 0; branch != 2; ++branch) {
            branches.select(branch)
                .map([](std::string_view text) { return text; })
                .rebalance()
                .sink([](std::string_view) {});
        }
        run(graph, test::run_options(seed));
        ASSERT_TRUE(*source.came_home) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
