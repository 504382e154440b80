// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record: this program counts every call of operator new.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/connector/callback.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/csv_writer.hpp>
#include <strid/connector/discard.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/generator.hpp>
#include <strid/connector/paced.hpp>
#include <strid/connector/replay.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/connector/text_writer.hpp>
#include <strid/engine/operator/declared.hpp>

#include "../support/allocation_row.hpp"
#include "../support/counting_new.hpp"
#include "../support/opened.hpp"
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

struct Number {
    std::uint64_t value;
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
    void ingress_at(std::int64_t) {}
    void count_malformed(std::uint64_t) {}

    Function function;
    std::uint64_t count = 0;
    memory::TextReference chunk{};
};

constexpr std::uint64_t warm_up_records = 40'000;  // more than two chunks of text
constexpr std::uint64_t records = 55'000;

/// Allocations from the end of the warm-up on.
template <class Source, class Function>
std::uint64_t steady_allocations(Source&& source, Function function) {
    using Record = typename std::remove_cvref_t<Source>::record_type;
    Forward<Record, Function> emit{std::move(function)};
    test::open(source);
    std::uint64_t before = 0;
    while (emit.count < records) {
        if (emit.count < warm_up_records) before = allocations.load();
        EXPECT_NE(source.poll(emit, 500), SourceStatus::finished);
    }
    return allocations.load() - before;
}

void expect_none(const std::string& what, std::uint64_t steady) {
    test::print_allocations(what, "on its own",
                            static_cast<double>(steady) / (records - warm_up_records));
    EXPECT_EQ(steady, 0U) << what;
}

template <class Source, class Function>
void expect_none_per_record(const std::string& what, Source source, Function function) {
    expect_none(what, steady_allocations(source, std::move(function)));
}

constexpr auto nothing = [](auto&) {};

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
    expect_none_per_record("text_lines", text_lines(path), nothing);
    expect_none_per_record("csv_file", csv_file<Word>(path), nothing);
    expect_none_per_record("csv_file, one column", csv_file<std::uint64_t>(path, {.columns = {2}}),
                           nothing);
    ASSERT_TRUE(test::shell("gzip -k " + path + " && zstd -q " + path));
    expect_none_per_record("csv_file, gzip", csv_file<Word>(path + ".gz"), nothing);
    expect_none_per_record("csv_file, zstd", csv_file<Word>(path + ".zst"), nothing);
}

TEST(Allocations, NoneForARecordThatIsGeneratedReplayedOrPaced) {
    const Folder folder;
    const auto path = folder.write("a.csv", rows());
    const auto make = [](Random& random, std::uint64_t index) {
        return Word{"w", index, random.uniform()};
    };
    expect_none_per_record("generate", generate(make, {.rate_per_second = 1e9}), nothing);
    expect_none_per_record("replay", replay(csv_file<Word>(path), {.passes = 2}), nothing);
    expect_none_per_record("from_generator", from_generator([]() -> Generator<Number> {
                               for (Number next{};; ++next.value) co_yield next;
                           }),
                           nothing);
    expect_none_per_record("from_callback", from_callback([next = Number{}]() mutable {
                               ++next.value;
                               return std::optional{next};
                           }),
                           nothing);
    expect_none_per_record("paced", paced(csv_file<Word>(path), 1e9), nothing);
}

/// Standard input is this program's own; a pipe takes its place meanwhile.
TEST(Allocations, NoneForARecordFromStandardInput) {
    const Folder folder;
    const auto path = folder.write("a.csv", rows());
    std::FILE* const pipe = ::popen(("cat " + path).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    const int own = ::dup(STDIN_FILENO);
    ASSERT_GE(::dup2(::fileno(pipe), STDIN_FILENO), 0);
    expect_none_per_record("standard input, a pipe", csv_file<Word>("-"), nothing);
    ::dup2(own, STDIN_FILENO);
    ::close(own);
    ::pclose(pipe);
}

template <class Writer, class Input>
void expect_none_when_written(const std::string& what, Writer writer, Input input) {
    if constexpr (operators::FunctionHears<Writer, Opened>) test::open(writer);
    expect_none_per_record(what, std::move(input),
                           [&writer](const auto& record) { writer(record); });
    if constexpr (operators::FunctionHears<Writer, Closed>) writer.on(Closed{});
}

TEST(Allocations, NoneForARecordThatIsWritten) {
    const Folder folder;
    const auto path = folder.write("a.csv", rows());
    const auto out = folder.file("b.csv");
    expect_none_when_written("csv_writer", csv_writer<Word>(out), csv_file<Word>(path));
    expect_none_when_written("text_writer", text_writer(out), text_lines(path));
    expect_none_when_written("text_writer, numbers", text_writer(out),
                             csv_file<std::uint64_t>(path, {.columns = {2}}));
    expect_none_when_written("discard", discard(), csv_file<Word>(path));
}

TEST(Allocations, NoneForARecordToStandardOutput) {
    const Folder folder;
    const auto path = folder.write("a.csv", rows());
    std::fflush(stdout);
    const int own = ::dup(STDOUT_FILENO);
    std::FILE* const file = std::fopen(folder.file("b.csv").c_str(), "w");
    ASSERT_NE(file, nullptr);
    ASSERT_GE(::dup2(::fileno(file), STDOUT_FILENO), 0);  // a file in its place meanwhile
    auto writer = csv_writer<Word>("-");
    test::open(writer);
    const std::uint64_t steady =
        steady_allocations(csv_file<Word>(path), [&writer](const Word& word) { writer(word); });
    writer.on(Closed{});
    ::dup2(own, STDOUT_FILENO);
    ::close(own);
    std::fclose(file);
    expect_none("standard output", steady);
}

}  // namespace
}  // namespace strid
