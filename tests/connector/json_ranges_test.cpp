// SPDX-License-Identifier: Apache-2.0
//
// Files of JSON lines whose ranges tasks parse. The rows and the refused lines are those that were
// written, with their numbers. The ranges are a few bytes long.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <strid/base/error.hpp>
#include <strid/connector/collect.hpp>
#include <strid/connector/csv_writer.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/stream/graph.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "stopped_run.hpp"

namespace strid {
namespace {

using Row = std::tuple<int, std::string_view, std::optional<double>>;
using OwnRow = std::tuple<int, std::string, std::optional<double>>;
using Letter = std::pair<std::uint64_t, std::string>;

/// Objects, and what files have between them, with what has to come of it.
class RandomObjects {
  public:
    explicit RandomObjects(std::uint64_t seed, std::size_t lines_max = 600) : random_(seed) {
        const double faults = chance(0.5) ? 0.0 : 0.02;
        text = chance(0.1) ? "\xEF\xBB\xBF" : "";
        for (std::size_t i = below(lines_max); i != 0; --i) {
            if (chance(0.02)) {
                add(chance(0.5) ? "" : "  ");
            } else if (chance(faults)) {
                add_fault();
            } else {
                add_object();
            }
        }
        if (!text.empty() && text.back() == '\n' && chance(0.2)) text.pop_back();
    }

    std::size_t below(std::size_t end) { return random_() % end; }
    bool chance(double share) { return std::bernoulli_distribution(share)(random_); }

    std::string text;
    std::vector<OwnRow> rows;
    std::vector<Letter> letters;

  private:
    void add(const std::string& line) {
        text += line + (chance(0.1) ? "\r\n" : "\n");
        ++lines_;
    }
    void add_object() {
        // As it is written, and as it is read.
        static const std::pair<std::string, std::string> pieces[] = {
            {"a", "a"},     {"{\\\"b\\\":[", "{\"b\":["},
            {"\\\\", "\\"}, {"\\u00e9", "\xC3\xA9"},
            {"}, ", "}, "}, {"\\n", "\n"},
            {"", ""}};
        const auto number = static_cast<int>(below(100'000));
        std::string written;
        std::string read;
        for (std::size_t i = below(5); i != 0; --i) {
            const auto& [in_file, in_row] = pieces[below(std::size(pieces))];
            written += in_file;
            read += in_row;
        }
        std::string object = fmt::format(R"({{"id":{},"name":"{}")", number, written);
        std::optional<double> value;
        if (chance(0.7)) {
            value = static_cast<double>(below(4000)) / 4;
            object += fmt::format(R"(,"x":{})", *value);
        } else if (chance(0.5)) {
            object += R"(,"x":null)";
        }
        if (chance(0.2)) object += R"(,"other":[1,{"id":7}])";
        add(object + "}");
        rows.emplace_back(number, read, value);
    }
    void add_fault() {
        static const std::string faults[] = {R"({"id":1,"name":"cut)", R"({"id":"\n","name":"b"})",
                                             R"({"name":"no id"})", "nothing of JSON",
                                             R"({"id":1,"name":"a\tb","x":tru})"};
        const std::string& fault = faults[below(std::size(faults))];
        add(fault);
        letters.emplace_back(lines_, fault);
    }

    std::mt19937_64 random_;
    std::uint64_t lines_ = 0;
};

RunOptions random_run(RandomObjects& random) {
    RunOptions options;
    options.seed = random.below(1'000'000);
    options.mode =
        random.chance(0.6) ? RunOptions::Mode::simulation : RunOptions::Mode::cooperative;
    options.workers = options.mode == RunOptions::Mode::simulation ? 0 : 1 + random.below(3);
    return options;
}

TEST(JsonRanges, GiveTheRowsThatWereWritten) {
    for (const std::uint64_t seed : test::seeds(400)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomObjects random(seed);
        const test::Folder folder;
        JsonOptions options{.members = {"id", "name", "x"}};
        options.text.chunk_bytes = 1 + random.below(random.chance(0.5) ? 40 : 400);
        options.text.chunks = 4 + random.below(20);
        const bool stops = random.chance(0.2);
        std::vector<Letter> letters;
        options.on_malformed = stops ? OnMalformed::stop : OnMalformed::dead_letter;
        if (!stops) {
            options.dead_letter = [&letters](const MalformedLine& line) {
                letters.emplace_back(line.line, line.text);
            };
        }
        const auto collected = std::make_shared<Collected<Row>>();
        Graph graph{"ranges"};
        graph.source(json_lines<Row>(folder.write("a.jsonl", random.text), options))
            .sink(collect_into(collected));
        std::string error;
        try {
            (void)run(graph, random_run(random));
        } catch (const Error& thrown) {
            error = thrown.what();
        }
        if (stops && !random.letters.empty()) {
            const auto first = fmt::format("a.jsonl:{}:", random.letters.front().first);
            ASSERT_THAT(error, testing::HasSubstr(first));
            continue;
        }
        ASSERT_EQ(error, "");
        ASSERT_EQ(letters, random.letters);
        std::vector<OwnRow> rows;
        for (const auto& [number, name, value] : collected->records()) {
            rows.emplace_back(number, name, value);
        }
        ASSERT_EQ(rows, random.rows);
    }
}

/// Adds the rows of a run that is stopped some way on to those before it. False: the run before had
/// ended.
bool go_on(const std::string& path, const JsonOptions& options, const test::Folder& folder,
           RandomObjects& random) {
    std::atomic<std::size_t> passed{0};
    const std::size_t most = random.below(600);
    const auto slow_at_last = [&passed, most](const Row& /*row*/) {
        if (passed.fetch_add(1) >= most) std::this_thread::sleep_for(std::chrono::microseconds{50});
        return true;
    };
    Graph graph{"stopped"};
    graph.source(json_lines<Row>(path, options), {.name = "rows"})
        .filter(slow_at_last, {.name = "slow"})
        .map([](const Row& row) { return std::get<0>(row); }, {.name = "number"})
        .sink(csv_writer<int>(folder.file("out.csv")), {.name = "write"});
    RunOptions run_options{.workers = 1 + random.below(3)};
    run_options.snapshots.folder = folder.file("snapshots");
    return test::run_and_stop(graph, run_options, passed, most);
}

TEST(JsonRanges, GoOnBehindASnapshot) {
    for (const std::uint64_t seed : test::seeds(10)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomObjects random(seed, 6000);
        JsonOptions options{.members = {"id", "name", "x"}, .on_malformed = OnMalformed::skip};
        options.text.chunk_bytes = 1 + random.below(400);
        const test::Folder folder;
        const std::string path = folder.write("a.jsonl", random.text);
        std::string expected;
        for (const auto& row : random.rows) expected += std::to_string(std::get<0>(row)) + "\n";
        std::size_t runs = 0;
        while (go_on(path, options, folder, random)) ASSERT_LT(++runs, 10'000U);
        ASSERT_EQ(folder.read("out.csv"), expected);
    }
}

}  // namespace
}  // namespace strid
