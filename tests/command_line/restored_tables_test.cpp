// SPDX-License-Identifier: Apache-2.0
//
// The state() of the source of `strid window` is complete: a fresh source with the state of another
// one goes on with the next row, also where inputs are merged and rows of each were read ahead, and
// reports no malformed row twice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "../../tools/strid/window/merged_tables.hpp"
#include "../connector/drive.hpp"
#include "../support/seeds.hpp"

namespace strid::tool {
namespace {

/// Rows and malformed rows, in the order in which they came.
struct Texts {
    bool operator()(const TableRow& row) {
        rows.push_back(std::string(row.key) + ' ' + std::to_string(row.time.ns()) + ' ' +
                       (row.has(0) ? std::string(row.text(0)) : "none"));
        return true;
    }
    void keep_alive(const memory::TextReference&) {}
    void ingress_at(std::int64_t) {}
    void count_malformed(std::uint64_t count) { malformed += count; }

    std::vector<std::string> rows;
    std::uint64_t malformed = 0;
};

class RestoredTables : public testing::Test {
  protected:
    /// Inputs of a random length, each in order of time: tables and JSON in turns.
    WindowJob job_of(std::mt19937_64& random, bool is_merged) {
        WindowJob job;
        const auto plan = std::make_shared<TablePlan>();
        plan->keys = {"key"};
        plan->times = {"time"};
        plan->format.unit_ns = 1;
        plan->read_aggregates("distinct(word)");
        job.plan = plan;
        job.inputs.clear();
        const std::size_t inputs = 1 + random() % 4;
        for (std::size_t i = 0; i != inputs; ++i) {
            const bool is_json = i % 2 == 1;
            const std::string name = "table" + std::to_string(i) + (is_json ? ".json" : ".csv");
            job.inputs.push_back(folder_.write(name, text_of(random, is_json, random() % 400)));
        }
        job.merge_inputs = is_merged && job.inputs.size() > 1;
        job.csv.header = CsvHeader::skip;
        job.csv.columns = {"key", "time", "word"};
        job.csv.on_malformed = OnMalformed::dead_letter;
        job.csv.dead_letter = [this](const MalformedLine& line) {
            letters_.emplace_back(line.text);
        };
        job.csv.text.chunk_bytes = 200 + random() % 3'000;
        job.csv.text.line_bytes_max = 100;
        return job;
    }
    static std::string text_of(std::mt19937_64& random, bool is_json, std::size_t rows) {
        std::string text = is_json ? "" : "word,key,time\n";
        std::uint64_t time = random() % 50;
        for (std::size_t n = 0; n != rows; ++n) {
            time += random() % 3;
            const std::string key = std::to_string(random() % 5);
            const std::string at = random() % 20 == 0 ? "never" : std::to_string(time);
            const std::string word(random() % 3, 'w');
            text += is_json ? R"({"key": )" + key + R"(, "time": ")" + at +
                                  R"(", "word": "\u0077)" + word + "\"}\n"
                            : "\"a \"\"" + word + "\"\"\"," + key + "," + at + "\n";
        }
        return text;
    }

    test::Folder folder_;
    std::vector<std::string> letters_;
};

/// Polls until the source has ended, or `polls` times.
bool polls(MergedTables& source, Texts& texts, std::mt19937_64& random, std::size_t polls) {
    for (; polls != 0; --polls) {
        if (source.poll(texts, 1 + random() % 30) == SourceStatus::finished) return true;
    }
    return false;
}

TEST_F(RestoredTables, GoOnWithTheNextRow) {
    for (const std::uint64_t seed : test::seeds(120)) {
        std::mt19937_64 random{seed};
        const WindowJob job = job_of(random, random() % 4 != 0);
        letters_.clear();
        Texts whole;
        MergedTables undivided(job);
        test::open(undivided);
        while (!polls(undivided, whole, random, 100)) {
        }
        const std::vector<std::string> letters_of_whole = std::exchange(letters_, {});

        Texts parted;
        auto source = std::make_unique<MergedTables>(job);
        test::open(*source);
        for (std::size_t cuts = random() % 4; cuts != 0; --cuts) {
            polls(*source, parted, random, random() % 12);
            auto fresh = std::make_unique<MergedTables>(job);
            test::open(*fresh);
            fresh->state() = source->state();
            source = std::move(fresh);
            source->on(Restored{});
        }
        while (!polls(*source, parted, random, 100)) {
        }
        ASSERT_EQ(parted.rows, whole.rows) << "seed " << seed;
        ASSERT_EQ(parted.malformed, whole.malformed) << "seed " << seed;
        std::ranges::sort(letters_);
        auto sorted = letters_of_whole;
        std::ranges::sort(sorted);
        ASSERT_EQ(letters_, sorted) << "seed " << seed;
    }
}

TEST_F(RestoredTables, InputThatCannotBeReadAgainIsRefused) {
    std::mt19937_64 random{1};
    WindowJob job = job_of(random, true);
    const std::string pipe = folder_.file("pipe.csv");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int writer = ::open(pipe.c_str(), O_RDWR);
    ASSERT_GE(writer, 0);
    const std::string_view rows = "key,time,word\n1,1,a\n1,2,b\n";
    ASSERT_EQ(::write(writer, rows.data(), rows.size()), static_cast<ssize_t>(rows.size()));
    job.inputs = {folder_.write("table.csv", "key,time,word\n1,1,x\n1,5,x\n"), pipe};
    job.merge_inputs = true;
    MergedTables source(job);
    test::open(source);
    Texts texts;
    while (texts.rows.size() != 2) (void)source.poll(texts, 1);
    MergedTables fresh(job);
    test::open(fresh);
    fresh.state() = source.state();
    EXPECT_NE(test::message_of<InputOutputError>([&] {
                  fresh.on(Restored{});
              }).find("cannot be read once more"),
              std::string::npos);
    ::close(writer);
}

}  // namespace
}  // namespace strid::tool
