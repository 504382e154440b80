// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record: this program counts every call of operator new.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <strid/connector/csv_file.hpp>
#include <strid/connector/csv_writer.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/replay.hpp>
#include <strid/connector/text_lines.hpp>

#include "../support/counting_new.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using test::allocations;
using test::Folder;

struct Word {
    std::string_view word;
    std::uint64_t count;
    double value;
};

/// Hands each record on and keeps the last chunk, as a batch would.
template <class T, class Function>
struct Forward {
    bool operator()(const T& record) {
        ++count;
        function(record);
        return true;
    }
    void keep_alive(const memory::TextReference& reference) { chunk = reference; }
    void born_at(std::int64_t) {}
    void count_malformed(std::uint64_t) {}

    Function function;
    std::uint64_t count = 0;
    memory::TextReference chunk{};
};

/// Allocations after the first forty thousand records, which fill more than two chunks of text.
template <class Source, class Function>
std::uint64_t steady_allocations(Source source, Function function) {
    Forward<typename Source::record_type, Function> emit{std::move(function)};
    source.open({});
    std::uint64_t before = 0;
    while (emit.count < 55'000) {
        if (emit.count < 40'000) before = allocations.load();
        EXPECT_NE(source.poll(emit, 500), SourceStatus::finished);
    }
    return allocations.load() - before;
}

std::string rows() {
    std::string content;
    for (int i = 0; i < 60'000; ++i) {
        const std::string_view word = i % 3 == 0 ? "\"wo\"\"rd\"" : "word";
        fmt::format_to(std::back_inserter(content), "{},{},{}\n", word, i, i * 0.25);
    }
    return content;
}

TEST(Allocations, NoneForARecordFromAFile) {
    const Folder folder;
    const auto path = folder.write("a.csv", rows());
    const auto nothing = [](auto&) {};
    EXPECT_EQ(steady_allocations(text_lines(path), nothing), 0U);
    EXPECT_EQ(steady_allocations(csv_file<Word>(path), nothing), 0U);
    EXPECT_EQ(steady_allocations(csv_file<std::uint64_t>(path, {.columns = {2}}), nothing), 0U);
    ASSERT_TRUE(test::shell("gzip -k " + path + " && zstd -q " + path));
    EXPECT_EQ(steady_allocations(csv_file<Word>(path + ".gz"), nothing), 0U);
    EXPECT_EQ(steady_allocations(csv_file<Word>(path + ".zst"), nothing), 0U);
}

TEST(Allocations, NoneForARecordThatIsGeneratedOrReplayed) {
    const Folder folder;
    const auto path = folder.write("a.csv", rows());
    const auto nothing = [](auto&) {};
    const auto make = [](Random& random, std::uint64_t index) {
        return Word{"w", index, random.uniform()};
    };
    EXPECT_EQ(steady_allocations(generate(make, {.rate_per_second = 1e9}), nothing), 0U);
    EXPECT_EQ(steady_allocations(replay(csv_file<Word>(path), {.passes = 2}), nothing), 0U);
}

TEST(Allocations, NoneForARecordThatIsWritten) {
    const Folder folder;
    const auto path = folder.write("a.csv", rows());
    auto writer = csv_writer<Word>(folder.file("b.csv"));
    writer.open({});
    const auto write = [&writer](const Word& word) { writer(word); };
    EXPECT_EQ(steady_allocations(csv_file<Word>(path), write), 0U);
    writer.close();
}

}  // namespace
}  // namespace strid
