// SPDX-License-Identifier: Apache-2.0
//
// CSV as chunks against csv_file, which reads records of the same types, alone, and is tested
// elsewhere: the same rows, the same refused lines, the same error, by one reader and by ranges of
// a few bytes; and runs that are stopped and go on.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/stream/graph.hpp>
#include <strid/table/csv_chunks.hpp>

#include "../connector/drive.hpp"
#include "../connector/stopped_run.hpp"
#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using strid::test::Folder;
using test::Row;
using test::Value;
using testing::HasSubstr;

Schema some_columns() {
    return Schema({{"id", {Kind::int64}}, {"name", {Kind::text}}, {"x", {Kind::float64}}});
}

struct Outcome {
    std::vector<Row> rows;
    std::vector<std::tuple<std::uint64_t, std::string, std::string>> letters;
    std::string error;
};

void keep_letters(CsvOptions& options, Outcome& outcome) {
    options.dead_letter = [&outcome](const MalformedLine& line) {
        outcome.letters.emplace_back(line.line, line.reason, line.text);
    };
}

template <class T>
Value value_of(const std::optional<T>& value) {
    return value ? Value(*value) : Value{};
}

Outcome by_records(const std::string& path, CsvOptions options) {
    using Record = std::tuple<std::optional<std::int64_t>, std::string_view, std::optional<double>>;
    Outcome outcome;
    keep_letters(options, outcome);
    options.columns = {"id", "name", "x"};
    options.text.chunk_bytes = 1 << 20;
    try {
        const auto emit = strid::test::drain(csv_file<Record>(path, options));
        for (const auto& [id, name, x] : emit.records) {
            outcome.rows.push_back(
                {value_of(id), name.empty() ? Value{} : Value(std::string(name)), value_of(x)});
        }
    } catch (const Error& error) {
        outcome.error = error.what();
    }
    return outcome;
}

Outcome by_chunks(const std::string& path, CsvOptions options, const RunOptions& run_options) {
    Outcome outcome;
    keep_letters(options, outcome);
    Graph graph{"chunks"};
    graph.source(csv_chunks(path, some_columns(), options)).sink([&outcome](const Chunk& chunk) {
        for (Row& row : test::rows_of(chunk)) outcome.rows.push_back(std::move(row));
    });
    try {
        (void)run(graph, run_options);
    } catch (const Error& error) {
        outcome.error = error.what();
    }
    return outcome;
}

class RandomText {
  public:
    explicit RandomText(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t end) { return random_() % end; }
    bool chance(double share) { return std::bernoulli_distribution(share)(random_); }

    std::string table(bool has_faults) {
        std::string text = "more,id,name,x\n";
        for (auto rows = below(400); rows != 0; --rows) {
            if (has_faults && chance(0.03)) {
                text += std::array{"1,2\n",          "\n",
                                   "0,z,a,1\n",      "0,1,a,1e999\n",
                                   "0,1,\"a\"b,2\n", "more,id,name,x\n",
                                   "0,,,\n"}[below(7)];
                continue;
            }
            text += "\"of, no use\"," + number() + ',' + name() + ',' + decimal();
            text += chance(0.1) ? ",\r\n" : ",\n";
            text.erase(text.rfind(','), 1);
        }
        return text;
    }

  private:
    std::string number() {
        if (chance(0.1)) return chance(0.5) ? "" : " ";
        if (chance(0.1)) return " " + std::to_string(below(100)) + " ";
        if (chance(0.05)) return "-9223372036854775808";
        return std::to_string(static_cast<std::int64_t>(below(1'000'000)) - 500'000);
    }
    std::string name() {
        if (chance(0.2)) return chance(0.5) ? "\"a \"\"b\"\"\"" : "\"line\nend\"";
        return std::string(below(9), "abc d"[below(5)]);
    }
    std::string decimal() {
        if (chance(0.1)) return "";
        if (chance(0.1)) return chance(0.5) ? "1e-7" : "\"12.5\"";
        return fmt::format("{}.{}", below(5000), below(1000));
    }

    std::mt19937_64 random_;
};

CsvOptions random_options(RandomText& random) {
    CsvOptions options{.header = CsvHeader::skip};
    if (random.chance(0.1)) options.null_words = {"a", "7"};
    options.on_malformed =
        std::array{OnMalformed::stop, OnMalformed::skip, OnMalformed::dead_letter}[random.below(3)];
    options.text.chunk_bytes = 1 + random.below(random.chance(0.5) ? 40 : 4000);
    options.text.chunks = 4 + random.below(20);
    return options;
}

TEST(CsvChunks, AreTheRowsOfCsvFile) {
    for (const auto seed : strid::test::seeds(80)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomText random(seed);
        const CsvOptions options = random_options(random);
        const Folder folder;
        const std::string path = folder.write("a.csv", random.table(random.chance(0.5)));
        RunOptions run_options;
        run_options.seed = seed;
        run_options.mode =
            seed % 2 == 0 ? RunOptions::Mode::simulation : RunOptions::Mode::cooperative;
        run_options.workers = seed % 2 == 0 ? 0 : 1 + random.below(3);
        const Outcome records = by_records(path, options);
        const Outcome chunks = by_chunks(path, options, run_options);
        ASSERT_EQ(chunks.letters, records.letters);
        if (records.error.empty()) {
            ASSERT_EQ(chunks.error, "");
            ASSERT_EQ(chunks.rows, records.rows);
        } else {
            ASSERT_THAT(chunks.error, HasSubstr(records.error));
        }
    }
}

TEST(CsvChunks, GoOnBehindASnapshot) {
    for (const auto seed : strid::test::seeds(4)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomText random(seed);
        CsvOptions options = random_options(random);
        options.on_malformed = OnMalformed::skip;
        const Folder folder;
        const std::string path = folder.write("a.csv", random.table(true) + random.table(true));
        std::string expected = "id,name,x\n";
        for (const Row& row : by_records(path, options).rows) {
            const auto* const id = std::get_if<std::int64_t>(&row[0]);
            const auto* const name = std::get_if<std::string>(&row[1]);
            const auto* const x = std::get_if<double>(&row[2]);
            expected += id == nullptr ? "," : std::to_string(*id) + ',';
            if (name != nullptr) append_csv_field(expected, *name, ',');
            expected += x == nullptr ? ",\n" : fmt::format(",{}\n", *x);
        }
        const auto go_on = [&] {
            std::atomic<std::size_t> passed{0};
            const std::size_t most = random.below(200);
            Graph graph{"stopped"};
            graph.source(csv_chunks(path, some_columns(), options), {.name = "rows"})
                .filter(
                    [&passed, most](const Chunk& chunk) {
                        if (passed.fetch_add(chunk.rows()) >= most) {
                            std::this_thread::sleep_for(std::chrono::microseconds{50});
                        }
                        return true;
                    },
                    {.name = "slow"})
                .sink(csv_from_chunks(folder.file("out.csv"), some_columns()), {.name = "write"});
            RunOptions run_options{.workers = 1 + random.below(2)};
            run_options.snapshots.folder = folder.file("snapshots");
            return strid::test::run_and_stop(graph, run_options, passed, most);
        };
        std::size_t runs = 0;
        while (go_on()) ASSERT_LT(++runs, 10'000U);
        ASSERT_EQ(folder.read("out.csv"), expected);
    }
}

TEST(CsvChunks, EveryKindGoesThereAndBack) {
    const Schema schema({{"truth", {Kind::boolean}},
                         {"amount", {Kind::decimal, 2}},
                         {"at", {Kind::time}},
                         {"length", {Kind::interval}}});
    const Folder folder;
    const std::string path = folder.write("in.csv",
                                          "truth,amount,at,length\n"
                                          "True,-12.5,2026-01-31 10:00:00.25,90s\n"
                                          "0,.005,1769853600000,-1.5h\n"
                                          ",,,\n"
                                          "false,9999999999999999.99,1970-01-01,0s\n");
    Graph graph{"kinds"};
    graph.source(csv_chunks(path, schema)).sink(csv_from_chunks(folder.file("out.csv"), schema));
    (void)run(graph);
    EXPECT_EQ(folder.read("out.csv"),
              "truth,amount,at,length\n"
              "true,-12.50,2026-01-31T10:00:00.25Z,90s\n"
              "false,0.01,2026-01-31T10:00:00Z,-90m\n"
              ",,,\n"
              "false,9999999999999999.99,1970-01-01T00:00:00Z,0s\n");
}

TEST(CsvChunks, WithoutAHeaderColumnsAreTheFirst) {
    const Folder folder;
    const std::string path = folder.write("in.csv", "1,a,2.5,x\n2,,3,y\n");
    std::vector<Row> rows;
    Graph graph{"first"};
    graph.source(csv_chunks(path, some_columns(), {.header = CsvHeader::none}))
        .sink([&rows](const Chunk& chunk) {
            for (Row& row : test::rows_of(chunk)) rows.push_back(std::move(row));
        });
    (void)run(graph);
    const std::vector<Row> expected{{Value(std::int64_t{1}), Value("a"), Value(2.5)},
                                    {Value(std::int64_t{2}), Value{}, Value(3.0)}};
    EXPECT_EQ(rows, expected);
}

// A quoted empty field is a text, an empty one is none; a number it cannot be.
TEST(CsvChunks, QuotedEmptyFieldsAreTexts) {
    const Folder folder;
    const std::string text = "id,name,x\n1,\"\",2.5\n2,,3\n,\"\",\n4,a,\n,,\n";
    const std::string path = folder.write("in.csv", text);
    std::vector<Row> rows;
    Graph graph{"quoted"};
    auto [kept, written] = graph.source(csv_chunks(path, some_columns())).tee<2>();
    std::move(kept).sink([&rows](const Chunk& chunk) {
        for (Row& row : test::rows_of(chunk)) rows.push_back(std::move(row));
    });
    std::move(written).sink(csv_from_chunks(folder.file("out.csv"), some_columns()));
    (void)run(graph);
    const std::vector<Row> expected{{Value(std::int64_t{1}), Value(""), Value(2.5)},
                                    {Value(std::int64_t{2}), Value{}, Value(3.0)},
                                    {Value{}, Value(""), Value{}},
                                    {Value(std::int64_t{4}), Value("a"), Value{}},
                                    {Value{}, Value{}, Value{}}};
    EXPECT_EQ(rows, expected);
    EXPECT_EQ(folder.read("out.csv"), text);
}

// A source has few pieces of text, and chunks hold them: it goes on although none comes back.
TEST(CsvChunks, MayAllBeKept) {
    for (const auto seed : strid::test::seeds(8)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        CsvOptions options{.header = CsvHeader::skip};
        options.text.chunk_bytes = 100 + random() % 400;
        options.text.chunks = 4 + random() % 9;
        const Folder folder;
        std::string text = "id,name,x\n";
        std::vector<Row> expected;
        for (std::int64_t i = 0; i != 3'000; ++i) {
            // Some lines are longer than a piece.
            const std::string name(random() % 40 == 0 ? random() % 3'000 : 1 + random() % 20, 'n');
            text += fmt::format("{},{},0.5\n", i, name);
            expected.push_back({i, name.empty() ? Value{} : Value(name), 0.5});
        }
        RunOptions run_options;
        run_options.seed = seed;
        run_options.mode =
            seed % 2 == 0 ? RunOptions::Mode::simulation : RunOptions::Mode::cooperative;
        run_options.workers = seed % 2 == 0 ? 0 : 1 + random() % 3;
        std::vector<Chunk> chunks;
        Graph graph{"kept"};
        graph.source(csv_chunks(folder.write("in.csv", text), some_columns(), options))
            .sink([&chunks](const Chunk& chunk) { chunks.push_back(chunk); });
        (void)run(graph, run_options);
        std::vector<Row> rows;
        for (const Chunk& chunk : chunks) {
            for (Row& row : test::rows_of(chunk)) rows.push_back(std::move(row));
        }
        ASSERT_EQ(rows, expected);
    }
}

TEST(CsvChunks, DecimalsHaveTheCommaOfTheDialect) {
    const Schema schema({{"amount", {Kind::decimal, 2}}, {"x", {Kind::float64}}});
    const Folder folder;
    const std::string path = folder.write("in.csv", "amount;x\n-12,345;1,5\n7;2\n,25;,5\n");
    Graph graph{"comma"};
    graph
        .source(csv_chunks(path, schema,
                           {.delimiter = ';', .header = CsvHeader::skip, .decimal_comma = true}))
        .sink(csv_from_chunks(folder.file("out.csv"), schema));
    (void)run(graph);
    EXPECT_EQ(folder.read("out.csv"), "amount,x\n-12.35,1.5\n7.00,2\n0.25,0.5\n");
}

// Memory of a chunk is for as many rows as a piece of text may have.
TEST(CsvChunks, WideTablesHaveSmallChunks) {
    std::vector<Field> fields;
    std::string header;
    for (int i = 0; i != 2'000; ++i) {
        fields.push_back({"c" + std::to_string(i), {Kind::int64}});
        header += (i == 0 ? "" : ",") + fields.back().name;
    }
    const std::string row = std::string(1'999, ',') + "5\n";
    std::string text = header + '\n';
    for (int i = 0; i != 150; ++i) text += row;
    const Folder folder;
    std::size_t rows = 0;
    Graph graph{"wide"};
    graph.source(csv_chunks(folder.write("in.csv", text), Schema(fields)))
        .sink([&rows](const Chunk& chunk) {
            rows += chunk.rows();
            EXPECT_LT(chunk.heap_bytes(), 4U << 20);
            EXPECT_EQ(test::value_at(chunk, 1'999, chunk.rows() - 1), Value(std::int64_t{5}));
        });
    (void)run(graph);
    EXPECT_EQ(rows, 150);
}

TEST(CsvChunks, RaggedRowsLackColumns) {
    const Folder folder;
    std::string text = "1\n1,a\n";
    for (int i = 2; i != 9; ++i) text += "1,a,0.5\n2\n";
    std::vector<Row> rows;
    CsvOptions options{.header = CsvHeader::none, .ragged = true};
    options.columns = {1, 2, 2'000'000'000};
    Graph graph{"ragged"};
    graph.source(csv_chunks(folder.write("in.csv", text), some_columns(), options))
        .sink([&rows](const Chunk& chunk) {
            for (Row& row : test::rows_of(chunk)) rows.push_back(std::move(row));
        });
    (void)run(graph);
    ASSERT_EQ(rows.size(), 16);
    EXPECT_EQ(rows[0], (Row{Value(std::int64_t{1}), Value{}, Value{}}));
    EXPECT_EQ(rows[14], (Row{Value(std::int64_t{1}), Value("a"), Value{}}));
}

TEST(CsvChunks, FaultsNameFileLineAndColumn) {
    const Folder folder;
    const std::string path = folder.write("in.csv", "id,amount\n1,2\n2,1e5\n");
    Graph graph{"faults"};
    graph.source(csv_chunks(path, Schema({{"id", {Kind::int64}}, {"amount", {Kind::decimal, 2}}})))
        .sink([](const Chunk&) {});
    const auto message = strid::test::message_of<Error>([&] { (void)run(graph); });
    EXPECT_THAT(message, HasSubstr("in.csv:3: field 2 'amount': not a decimal"));
    Graph misnamed{"misnamed"};
    misnamed.source(csv_chunks(path, Schema({{"ident", {Kind::int64}}}))).sink([](const Chunk&) {});
    EXPECT_THAT(strid::test::message_of<Error>([&] { (void)run(misnamed); }), HasSubstr("ident"));
    EXPECT_THROW((void)csv_chunks(path, Schema{}), GraphError);
}

}  // namespace
}  // namespace strid::table
