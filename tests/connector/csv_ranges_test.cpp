// SPDX-License-Identifier: Apache-2.0
//
// Files of CSV whose ranges tasks parse, against one reader, which reads the file alone and is
// tested elsewhere: the same rows in the same order, the same refused lines, the same error. The
// ranges are a few bytes long, so that they begin within quotes, escapes and faults.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <strid/base/error.hpp>
#include <strid/connector/collect.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/csv_writer.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/stream/graph.hpp>

#include "../support/seeds.hpp"
#include "drive.hpp"
#include "stopped_run.hpp"

namespace strid {
namespace {

using test::Folder;

using Row = std::tuple<int, std::string_view, std::optional<double>>;
using OwnRow = std::tuple<int, std::string, std::optional<double>>;
using Letter = std::tuple<std::uint64_t, std::string, std::string>;

struct Outcome {
    std::vector<OwnRow> rows;
    std::vector<Letter> letters;
    std::string error;
};

std::vector<OwnRow> owned(const std::vector<Row>& rows) {
    std::vector<OwnRow> own;
    for (const auto& [number, text, value] : rows) own.emplace_back(number, text, value);
    return own;
}

/// How far is looked for a closing quote depends on where the text at hand ends.
std::string without_limit(std::string_view reason) {
    static const std::regex of_bytes(
        "is not closed (within [0-9]+ bytes|in its line, nor well behind it)");
    return std::regex_replace(std::string(reason), of_bytes, "is never closed");
}

void keep_letters(CsvOptions& options, Outcome& outcome) {
    if (options.on_malformed != OnMalformed::dead_letter) return;
    options.dead_letter = [&outcome](const MalformedLine& line) {
        // A limit is exceeded when so much is in memory: of a line, its beginning; of a quote,
        // before or behind the end of a line.
        const bool is_long = line.reason.starts_with("the line is longer");
        outcome.letters.emplace_back(line.line, without_limit(line.reason),
                                     is_long ? "" : line.text);
    };
}

Outcome read_alone(const std::string& path, CsvOptions options) {
    Outcome outcome;
    keep_letters(options, outcome);
    options.text.chunk_bytes = 1 << 20;
    try {
        auto emit = test::drain(csv_file<Row>(path, options));
        outcome.rows = owned(emit.records);
    } catch (const Error& error) {
        outcome.error = without_limit(error.what());
    }
    return outcome;
}

Outcome read_by_ranges(const std::string& path, CsvOptions options, const RunOptions& run_options) {
    Outcome outcome;
    keep_letters(options, outcome);
    const auto collected = std::make_shared<Collected<Row>>();
    Graph graph{"ranges"};
    graph.source(csv_file<Row>(path, options)).sink(collect_into(collected));
    try {
        const RunReport report = run(graph, run_options);
    } catch (const Error& error) {
        outcome.error = without_limit(error.what());
    }
    outcome.rows = owned(collected->records());
    return outcome;
}

/// Rows, most of them whole, and whatever files have between them.
class RandomText {
  public:
    explicit RandomText(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t end) { return random_() % end; }
    bool chance(double share) { return std::bernoulli_distribution(share)(random_); }

    std::string table(const CsvOptions& options) {
        const double faults = chance(0.5) ? 0.0 : 0.02;
        const double quotes = chance(0.3) ? 0.0 : 0.3;
        std::string text = chance(0.1) ? "\xEF\xBB\xBF" : "";
        if (!options.columns.empty()) text += "id,name,x\n";
        const std::size_t rows = below(600);
        for (std::size_t i = 0; i != rows; ++i) {
            if (chance(faults)) {
                text += fault();
            } else if (chance(0.02)) {
                text += chance(0.5) ? "\n" : "id,name,x\r\n";
            } else if (options.comment != '\0' && chance(0.05)) {
                text += std::string(1, options.comment) + "a \"comment\n";
            } else {
                text += std::to_string(below(100'000)) + "," + field(options, quotes) + ",";
                if (chance(0.8))
                    text += std::to_string(below(4000)) + "." + std::to_string(below(9));
                text += chance(0.1) ? "\r\n" : "\n";
            }
        }
        if (!text.empty() && chance(0.2)) text.pop_back();
        return text;
    }

  private:
    std::string field(const CsvOptions& options, double quotes) {
        std::string text;
        if (!chance(quotes)) {
            for (std::size_t i = below(12); i != 0; --i) text += "abc d"[below(5)];
            if (options.escape != '\0' && chance(0.1)) text += std::string(1, options.escape) + ",";
            return text;
        }
        text = '"';
        for (std::size_t i = below(8); i != 0; --i) {
            switch (below(6)) {
                case 0:
                    text += options.escape == '\0' ? std::string("\"\"") : std::string("\\\"");
                    break;
                case 1:
                    text += chance(0.7)              ? "\n"
                            : options.escape == '\0' ? "\n1,2,3\n"
                                                     : "\n1,\\a\\b,3\n";
                    break;
                case 2:
                    text += ',';
                    break;
                default:
                    text += "xyz"[below(3)];
            }
        }
        return text + '"';
    }
    std::string fault() {
        switch (below(7)) {
            case 0:
                return "1,2\n";
            case 1:
                return "1,2,3,4,5\n";
            case 2:
                return "x,\"q\"\"r\",1\n";
            case 3:
                return "1,\"open,2\n";
            case 4:
                return "1,\"a\"b,2\n";
            case 5:
                return std::string("1,\0,z\n", 6);
            default:
                return std::string(below(300), 'w') + ",a,1\n";
        }
    }

    std::mt19937_64 random_;
};

CsvOptions random_options(RandomText& random) {
    CsvOptions options;
    if (random.chance(0.7)) options.columns = {"id", "name", "x"};
    if (random.chance(0.3)) options.comment = '#';
    if (random.chance(0.2)) options.escape = '\\';
    if (random.chance(0.2)) options.ragged = true;
    if (random.chance(0.3)) options.quoted_lines_max = 1 + random.below(70);
    if (random.chance(0.2)) options.text.line_bytes_max = 40 + random.below(400);
    options.on_malformed =
        std::array{OnMalformed::stop, OnMalformed::skip, OnMalformed::dead_letter,
                   OnMalformed::dead_letter}[random.below(4)];
    options.text.chunk_bytes = 1 + random.below(random.chance(0.5) ? 40 : 400);
    options.text.chunks = 4 + random.below(20);
    return options;
}

RunOptions random_run(RandomText& random) {
    RunOptions options;
    options.seed = random.below(1'000'000);
    options.mode =
        random.chance(0.6) ? RunOptions::Mode::simulation : RunOptions::Mode::cooperative;
    options.workers = options.mode == RunOptions::Mode::simulation ? 0 : 1 + random.below(3);
    return options;
}

TEST(CsvRanges, GiveTheRowsOfOneReader) {
    for (const std::uint64_t seed : test::seeds(1000)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomText random(seed);
        const CsvOptions options = random_options(random);
        const Folder folder;
        const std::string path = folder.write("a.csv", random.table(options));
        const Outcome alone = read_alone(path, options);
        const Outcome ranges = read_by_ranges(path, options, random_run(random));
        ASSERT_EQ(ranges.letters, alone.letters);
        if (alone.error.empty()) {
            ASSERT_EQ(ranges.error, "");
            ASSERT_EQ(ranges.rows, alone.rows);
        } else {
            ASSERT_THAT(ranges.error, testing::HasSubstr(alone.error));
        }
    }
}

/// Goes on behind the last snapshot, and is stopped some rows later. False: the run before had
/// ended.
bool go_on(const std::string& path, const CsvOptions& options, const Folder& folder,
           RandomText& random) {
    std::atomic<std::size_t> passed{0};
    const std::size_t most = random.below(600);
    const auto slow_at_last = [&passed, most](const Row& /*row*/) {
        if (passed.fetch_add(1) >= most) std::this_thread::sleep_for(std::chrono::microseconds{50});
        return true;
    };
    Graph graph{"stopped"};
    graph.source(csv_file<Row>(path, options), {.name = "rows"})
        .filter(slow_at_last, {.name = "slow"})
        .sink(csv_writer<Row>(folder.file("out.csv")), {.name = "write"});
    RunOptions run_options{.workers = 1 + random.below(3)};
    run_options.snapshots.folder = folder.file("snapshots");
    return test::run_and_stop(graph, run_options, passed, most);
}

TEST(CsvRanges, GoOnBehindASnapshot) {
    for (const std::uint64_t seed : test::seeds(10)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomText random(seed);
        CsvOptions options = random_options(random);
        options.on_malformed = OnMalformed::skip;
        const Folder folder;
        std::string text;
        for (int i = 0; i != 10; ++i) text += random.table(options);
        const std::string path = folder.write("a.csv", text);
        const Outcome alone = read_alone(path, options);
        std::string expected;
        for (const auto& [number, name, value] : alone.rows) {
            std::string row = std::to_string(number) + ",";
            append_csv_field(row, name, ',');
            row += value ? fmt::format(",{}\n", *value) : ",\n";
            expected += row;
        }
        std::size_t runs = 0;
        while (go_on(path, options, folder, random)) ASSERT_LT(++runs, 10'000U);
        ASSERT_EQ(folder.read("out.csv"), expected);
    }
}

/// A node that threads step as workers do.
struct OwnTask final : runtime::Task {
    OwnTask() : Task("source") {}
    runtime::StepResult step(std::int64_t& /*clock_ns*/) override {
        return runtime::StepResult::waiting;
    }
};

/// Counts rows. It refuses more after each.
struct CountsRows {
    bool operator()(Row&& /*row*/) {
        ++rows;
        return false;
    }
    void keep_alive(const memory::TextReference& /*text*/) {}
    void ingress_at(std::int64_t /*ns*/) {}
    void count_malformed(std::uint64_t /*rows*/) {}
    std::uint64_t rows = 0;
};

/// Also while a task parses the oldest range: then none is at hand.
TEST(CsvRanges, ThePlaceIsBehindTheRowsThatWereEmitted) {
    const Folder folder;
    std::vector<std::uint64_t> ends{0};
    std::string text;
    for (int i = 0; i != 30'000; ++i) {
        text += fmt::format("{},{},{}\n", i, i % 5 == 3 ? "\"a\nb\nc\nd\nefgh\"" : "abc", i);
        ends.push_back(text.size());
    }
    const std::string path = folder.write("rows.csv", text);
    CsvOptions options;
    options.text.chunk_bytes = 4096;
    for (int round = 0; round != 30; ++round) {
        auto source = csv_file<Row>(path, options);
        OwnTask own;
        std::vector<runtime::Task*> tasks;
        const Context context{"source"};
        source.on(TasksWanted{context, own, 2, false, tasks});
        ASSERT_FALSE(tasks.empty());
        source.on(Opened{context, own});
        std::vector<std::thread> workers;
        for (runtime::Task* task : tasks) {
            workers.emplace_back([task] {
                std::int64_t clock_ns = 0;
                while (task->step(clock_ns) != runtime::StepResult::finished) {
                    std::this_thread::yield();
                }
            });
        }
        CountsRows emit;
        SourceStatus status{};
        do {
            const std::uint64_t before = emit.rows;
            status = source.poll(emit, 256);
            EXPECT_LE(emit.rows, before + 1);
            const std::uint64_t place = std::get<1>(source.state());
            if (status != SourceStatus::finished) {
                EXPECT_EQ(place, ends[emit.rows]);
            }
        } while (status != SourceStatus::finished && !HasFailure());
        EXPECT_TRUE(HasFailure() || emit.rows == 30'000U);
        source.on(Closed{});
        for (std::thread& worker : workers) worker.join();
    }
}

}  // namespace
}  // namespace strid
