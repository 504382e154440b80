// SPDX-License-Identifier: Apache-2.0
//
// Files, pipes and disks that fail; several replicas on one file.
#include <algorithm>
#include <array>
#include <sstream>
#include <thread>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_writer.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/connector/text_writer.hpp>
#include <strid/window/result.hpp>

#include "../support/opened.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using test::Folder;
using test::message_of;
using testing::HasSubstr;

struct Reading {
    std::uint64_t device;
    double value;
};

TEST(CsvWriter, WritesShortestNumbersAndTheHeader) {
    const Folder folder;
    auto writer = csv_writer<Reading>(folder.file("a.csv"), {.header = {"device", "value"}});
    test::open(writer);
    writer(Reading{1, 0.1});
    writer(Reading{UINT64_MAX, 1.0 / 3});
    writer.on(Closed{});
    EXPECT_EQ(folder.read("a.csv"),
              "device,value\n1,0.1\n18446744073709551615,0.3333333333333333\n");
}

using Result = WindowResult<std::string_view, double>;
const Result result{"a,b", {EventTime::of_ns(-5), EventTime::of_ns(1'000'000'000)}, 0.5};

TEST(CsvWriter, WritesAResultOfWindowsAsKeyStartEndAndValue) {
    const Folder folder;
    auto writer =
        csv_writer<Result>(folder.file("a.csv"), {.header = {"key", "start", "end", "value"}});
    test::open(writer);
    writer(result);
    writer.on(Closed{});
    EXPECT_EQ(folder.read("a.csv"), "key,start,end,value\n\"a,b\",-5,1000000000,0.5\n");
}

TEST(CsvWriter, WritesWhatIsNestedAsColumns) {
    using Key = std::pair<int, std::array<char, 4>>;
    using Several = WindowResult<Key, std::tuple<std::uint64_t, Reading>, window::CountBounds>;
    const Folder folder;
    auto writer = csv_writer<Several>(folder.file("a.csv"), {.delimiter = ';'});
    test::open(writer);
    writer(Several{{1, {'x', 'y'}}, {0, 10}, {7, {2, 2.5}}});
    writer.on(Closed{});
    EXPECT_EQ(folder.read("a.csv"), "1;xy;0;10;7;2;2.5\n");
}

TEST(CsvWriter, FlushMakesRowsVisibleThatAreWrittenLive) {
    const Folder folder;
    auto writer = csv_writer<Reading>(folder.file("a.csv"), {.writing = Writing::live});
    test::open(writer);
    writer(Reading{1, 2});
    EXPECT_EQ(folder.read("a.csv"), "");
    writer.on(Flush{});
    EXPECT_EQ(folder.read("a.csv"), "1,2\n");
    writer.on(Closed{});
}

TEST(CsvWriter, ASecondRunStartsTheFileAnew) {
    const Folder folder;
    const auto prototype = csv_writer<Reading>(folder.file("a.csv"), {.header = {"d", "v"}});
    for (std::uint64_t run = 0; run < 2; ++run) {
        auto first = prototype;
        auto second = prototype;
        test::open(first);
        test::open(second);
        first(Reading{run, 0});
        first.on(Closed{});
        second(Reading{run, 1});
        second.on(Closed{});
        const auto digit = std::to_string(run);
        EXPECT_EQ(folder.read("a.csv"), "d,v\n" + digit + ",0\n" + digit + ",1\n");
    }
    {
        auto failed = prototype;  // a run that ended without close()
        test::open(failed);
        failed(Reading{7, 7});
        failed.on(Flush{});
    }
    EXPECT_EQ(folder.read("a.csv"), "d,v\n1,0\n1,1\n");
    auto next = prototype;
    test::open(next);
    next.on(Closed{});
    EXPECT_EQ(folder.read("a.csv"), "d,v\n");
}

TEST(CsvWriter, ReplicasInterleaveWholeRowsInTheirOrder) {
    const Folder folder;
    constexpr std::uint64_t replicas = 4;
    constexpr std::uint64_t rows = 10'000;
    const auto prototype = csv_writer<Reading>(folder.file("a.csv"));
    std::vector<CsvWriter<Reading>> writers(replicas, prototype);
    for (auto& writer : writers) test::open(writer);
    std::vector<std::thread> threads;
    for (std::uint64_t replica = 0; replica < replicas; ++replica) {
        threads.emplace_back([&writer = writers[replica], replica] {
            for (std::uint64_t i = 0; i < rows; ++i) {
                writer(Reading{replica, static_cast<double>(i)});
                if (i % 1000 == replica) writer.on(Flush{});
            }
            writer.on(Closed{});
        });
    }
    for (auto& thread : threads) thread.join();
    std::istringstream in(folder.read("a.csv"));
    std::vector<std::uint64_t> next(replicas, 0);
    for (std::string line; std::getline(in, line);) {
        ASSERT_TRUE(line.size() >= 3 && line[0] >= '0' && line[0] <= '3' && line[1] == ',') << line;
        const auto replica = static_cast<std::size_t>(line[0] - '0');
        ASSERT_EQ(line.substr(2), std::to_string(next[replica]++));
    }
    EXPECT_EQ(next, std::vector<std::uint64_t>(replicas, rows));
}

TEST(CsvWriter, AFullDiskIsAnError) {
    auto writer = csv_writer<Reading>("/dev/full");
    test::open(writer);
    const auto fill = [&] {
        for (int i = 0; i < 100'000; ++i) writer(Reading{1, 2});
        writer.on(Closed{});
    };
    EXPECT_EQ(message_of<InputOutputError>(fill),
              "/dev/full: cannot write: No space left on device");
    auto late = csv_writer<Reading>("/dev/full");
    test::open(late);
    late(Reading{1, 2});
    EXPECT_THROW(late.on(Flush{}), InputOutputError);
    EXPECT_THROW(late.on(Closed{}), InputOutputError);
    auto headed = csv_writer<Reading>("/dev/full", {.header = {"a", "b"}});
    test::open(headed);
    EXPECT_THROW(headed.on(Flush{}), InputOutputError);
}

TEST(CsvWriter, AFileThatCannotBeOpenedIsAnError) {
    const Folder folder;
    auto writer = csv_writer<Reading>(folder.file("no/a.csv"));
    EXPECT_THAT(message_of<InputOutputError>([&] { test::open(writer); }),
                HasSubstr("no/a.csv: cannot open for writing: No such file or directory"));
    EXPECT_THROW((void)csv_writer<Reading>(folder.file("a"), {.delimiter = '1'}), GraphError);
}

// The default action of SIGPIPE would end this program, and no handler may see it either.
TEST(TextWriter, AClosedPipeIsAnErrorAndNoSignal) {
    const Folder folder;
    const auto path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    struct sigaction action {};
    ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &action), 0);
    ASSERT_EQ(action.sa_handler, SIG_DFL);
    auto writer = text_writer(path);
    EXPECT_TRUE(writer.blocks());
    test::open(writer);
    writer(std::string_view("seen"));
    writer.on(Flush{});
    ::close(reader);
    writer(std::string_view("lost"));
    EXPECT_EQ(message_of<InputOutputError>([&] { writer.on(Flush{}); }),
              path + ": cannot write: what read it has closed it (Broken pipe)");
    sigset_t pending;
    ::sigpending(&pending);
    EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    EXPECT_EQ(::sigismember(&blocked, SIGPIPE), 0);
}

// In a run, a result counts when all of the run has ended well.
TEST(TextWriter, AFileWaitsForTheEndOfItsRun) {
    const Folder folder;
    const auto write = [prototype = text_writer(folder.file("a"))](RunScope& run, int value) {
        auto writer = prototype;
        test::open(writer, {.name = "write", .run = &run});
        writer(value);
        writer.on(Closed{});
    };
    {
        RunScope run;
        write(run, 1);
        EXPECT_EQ(folder.read("a"), "");
        run.commit();
        EXPECT_EQ(folder.read("a"), "1\n");
    }
    {
        RunScope failed;
        write(failed, 2);
    }
    EXPECT_EQ(folder.read("a"), "1\n");
    RunScope again;
    write(again, 3);
    again.commit();
    EXPECT_EQ(folder.read("a"), "3\n");
}

TEST(TextWriter, AWaitForAReaderIsGivenUpWithTheRun) {
    const Folder folder;
    const auto path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    RunScope run;
    auto writer = text_writer(path);
    test::open(writer, {.name = "write", .run = &run});
    writer(1);
    std::thread cancelling([&run] { run.interrupt(); });
    EXPECT_THROW(writer.on(Flush{}), Interrupted);
    cancelling.join();
}

TEST(TextWriter, FilesAndTheNullDeviceNeedNoThreadOfTheirOwn) {
    const Folder folder;
    EXPECT_FALSE(text_writer(folder.file("a")).blocks());
    EXPECT_FALSE(text_writer("/dev/null").blocks());
    EXPECT_TRUE(text_writer("/dev/full").blocks());
}

TEST(TextWriter, TextLinesAndAnythingThatFormats) {
    const Folder folder;
    auto writer = text_writer(folder.file("a"));
    test::open(writer);
    writer(std::string_view("view"));
    writer(std::string("string"));
    writer(Line{"line", 7});
    writer(42);
    writer.on(Closed{});
    EXPECT_EQ(folder.read("a"), "view\nstring\nline\n42\n");
}

TEST(TextWriter, WritesOtherRecordsAsColumns) {
    const Folder folder;
    auto writer = text_writer(folder.file("a.txt"));
    test::open(writer);
    writer(result);
    writer(Reading{1, 0.25});
    writer.on(Closed{});
    EXPECT_EQ(folder.read("a.txt"), "a,b\t-5\t1000000000\t0.5\n1\t0.25\n");
}

TEST(TextWriter, StandardOutputStaysOpen) {
    const Folder folder;
    std::fflush(stdout);
    const int before = ::dup(STDOUT_FILENO);
    const int file = ::open(folder.file("out").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::close(file);
    for (int run = 0; run < 2; ++run) {
        auto writer = text_writer("-");
        test::open(writer);
        writer(run);
        writer.on(Closed{});
    }
    ::dup2(before, STDOUT_FILENO);
    ::close(before);
    EXPECT_EQ(folder.read("out"), "0\n1\n");
}

}  // namespace
}  // namespace strid
