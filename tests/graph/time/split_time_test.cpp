// SPDX-License-Identifier: Apache-2.0
//
// Streams of several splits: one source that reads them all, whose time is that of the split that
// is furthest behind, and a source with a replica for each. Against tumbling windows computed
// record by record, in every mode and under simulation.
#include <map>
#include <random>
#include <tuple>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

constexpr std::size_t split_count = 3;
constexpr std::int64_t length_ns = 100;

struct Piece {
    Event event;
    std::size_t split;
};

/// Splits that do not keep step: one lies far behind, and a late record is late in its own split.
std::vector<Piece> random_pieces(std::uint64_t seed, std::int64_t too_late) {
    std::vector<Piece> pieces;
    std::mt19937_64 random{seed};
    const auto events = random_events(seed, {.too_late = too_late}, event_count);
    for (const Event& event : events) {
        const std::size_t split = random() % split_count;
        Event shifted = event;
        shifted.time = shifted.time - Duration{static_cast<std::int64_t>(split) * 700};
        pieces.push_back({shifted, split});
    }
    return pieces;
}

/// The watermark before each piece: the least of the splits' watermarks, none before all splits
/// have begun. A split without a record among the last `idle_after`, seen after each so many, is
/// idle.
std::vector<EventTime> watermarks_of(const std::vector<Piece>& pieces, Duration bound,
                                     std::size_t idle_after) {
    std::vector<EventTime> result;
    std::vector<EventTime> latest(split_count, EventTime::earliest());
    std::vector<std::size_t> last(split_count, 0);
    std::vector<bool> idle(split_count, false);
    EventTime watermark = EventTime::earliest();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        result.push_back(watermark);
        const auto& [event, split] = pieces[i];
        latest[split] = std::max(latest[split], event.time);
        last[split] = i + 1;
        idle[split] = false;
        const auto advance = [&] {
            EventTime least = EventTime::latest();
            for (std::size_t s = 0; s < split_count; ++s) {
                if (!idle[s]) least = std::min(least, latest[s] - bound);
            }
            watermark = std::max(watermark, least);
        };
        advance();
        if (idle_after == 0 || (i + 1) % idle_after != 0) continue;
        for (std::size_t s = 0; s < split_count; ++s) idle[s] = i + 1 - last[s] >= idle_after;
        advance();
    }
    return result;
}

Answer expected_of(const std::vector<Piece>& pieces, const std::vector<EventTime>& asserted) {
    Answer answer;
    std::map<std::pair<std::uint32_t, std::int64_t>, double> sums;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Event& event = pieces[i].event;
        const std::int64_t time = event.time.ns();
        const std::int64_t start = time - (time % length_ns + length_ns) % length_ns;
        if (at(start + length_ns) <= asserted[i]) {
            answer.late.push_back(event);
        } else {
            sums[{event.key, start}] += static_cast<double>(event.value);
        }
    }
    for (const auto& [where, value] : sums) {
        answer.rows.emplace_back(where.first, where.second, where.second + length_ns, value);
    }
    sort(answer);
    return answer;
}

/// The results of windows behind `timed`, a stream of pieces with a time, emit.
template <class Timed>
Answer windows_of(Graph& graph, Timed timed, const RunOptions& options) {
    auto [results, late] =
        std::move(timed)
            .key_by([](const Piece& piece) { return piece.event.key; })
            .window(TimeWindows::tumbling(Duration{length_ns}),
                    window::sum<Piece>([](const Piece& piece) { return piece.event.value; }),
                    late_apart);
    auto rows = std::make_shared<Collected<Row>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    std::move(results).sink([rows](const auto& row) {
        rows->add(
            {row.key, row.window.start.ns(), row.window.end.ns(), static_cast<double>(row.value)});
    });
    std::move(late).sink([late_rows](const Piece& piece) { late_rows->add(piece.event); });
    run(graph, options);
    Answer answer{rows->records(), late_rows->records()};
    sort(answer);
    return answer;
}

constexpr auto split_of = [](const Piece& piece) { return piece.split; };
constexpr auto time_of = [](const Piece& piece) { return piece.event.time; };

void agrees_by_splits(std::size_t idle_after, std::size_t silent_from) {
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(8)) {
        auto pieces = random_pieces(seed, 400);
        // The split that lies furthest behind falls silent.
        std::size_t place = 0;
        std::erase_if(pieces, [&](const Piece& piece) {
            return ++place > silent_from && piece.split == split_count - 1;
        });
        const auto asserted = watermarks_of(pieces, Duration{50}, idle_after);
        const Answer oracle = expected_of(pieces, asserted);
        late += oracle.late.size();
        Graph graph{"splits"};
        auto timed = graph.source(replay(pieces))
                         .event_time(time_of, SplitTime{split_count, split_of,
                                                        BoundedDisorder{Duration{50}}, idle_after});
        const Answer answer = windows_of(graph, std::move(timed), run_options(seed));
        ASSERT_EQ(answer.rows, oracle.rows) << "seed " << seed;
        ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
    }
    EXPECT_NE(late, 0U);
}

TEST(SplitTime, IsThatOfTheSplitFurthestBehind) {
    agrees_by_splits(0, event_count);
}

TEST(SplitTime, ASplitThatFallsSilentIsIdleAfterSoManyRecords) {
    agrees_by_splits(64, event_count / 2);
}

TEST(SplitTime, ARecordOfASplitThatThereIsNotNamesTheOperator) {
    Graph graph{"splits"};
    std::vector<Piece> pieces{{{1, at(5), 0}, 0}, {{1, at(6), 0}, 2}};
    graph.source(replay(pieces))
        .event_time(time_of, SplitTime{2, split_of, MonotonousTime{}}, {.name = "clock"})
        .sink([](const Piece&) {});
    try {
        run(graph);
        FAIL() << "nothing was refused";
    } catch (const OperatorError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("clock"), std::string::npos) << what;
        EXPECT_NE(what.find("split 2, of 2"), std::string::npos) << what;
    }
    EXPECT_THROW((SplitTime{0, split_of, MonotonousTime{}}), Error);
}

/// Each replica reads one split.
struct ReadsItsSplit {
    using record_type = Piece;
    static constexpr SourceTraits traits{.hears = events<Opened>};
    std::vector<Piece> pieces;
    std::size_t next = 0;

    void on(const Opened& opened) {
        std::erase_if(pieces,
                      [&](const Piece& piece) { return piece.split != opened.context.replica; });
    }
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != pieces.size(); --budget) {
            if (!emit(std::as_const(pieces[next++]))) break;
        }
        return next != pieces.size() ? SourceStatus::more : SourceStatus::finished;
    }
    auto state() { return std::tie(next); }
};

TEST(SplitTime, ASourceWithAReplicaForEachSplitLosesNothingInTime) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto pieces = random_pieces(seed, 0);
        const Answer oracle =
            expected_of(pieces, std::vector<EventTime>(pieces.size(), EventTime::earliest()));
        Graph graph{"splits"};
        auto timed = graph.source(ReadsItsSplit{pieces}, {.parallelism = split_count})
                         .event_time(time_of, BoundedDisorder{Duration{50}});
        ASSERT_EQ(windows_of(graph, std::move(timed), run_options(seed)), oracle)
            << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
