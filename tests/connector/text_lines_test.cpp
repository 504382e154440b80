// SPDX-License-Identifier: Apache-2.0
//
// Oracle: std::getline over the same bytes.
#include <random>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/connector/text_lines.hpp>

#include "../support/opened.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using test::drain;
using test::Emit;
using test::Folder;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const Emit<Line>& emit) {
    std::vector<std::string> result;
    for (const Line& line : emit.records) result.emplace_back(line.text);
    return result;
}

std::vector<std::string> expected_lines(const std::string& content) {
    std::istringstream in(content);
    std::vector<std::string> result;
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        result.push_back(line);
    }
    return result;
}

TEST(TextLines, EndingsAndLastLines) {
    const Folder folder;
    const auto lines = [&](const char* content) {
        return texts(drain(text_lines(folder.write("a", content))));
    };
    EXPECT_THAT(lines(""), ElementsAre());
    EXPECT_THAT(lines("\n"), ElementsAre(""));
    EXPECT_THAT(lines("a"), ElementsAre("a"));
    EXPECT_THAT(lines("a\nb"), ElementsAre("a", "b"));
    EXPECT_THAT(lines("a\r\n\r\nb\r"), ElementsAre("a", "", "b"));
    EXPECT_THAT(lines("a\rb\n"), ElementsAre("a\rb"));
}

TEST(TextLines, AreNumberedFromOne) {
    const Folder folder;
    const auto emit = drain(text_lines(folder.write("a", "x\n\ny\n")));
    ASSERT_EQ(emit.records.size(), 3U);
    EXPECT_EQ(emit.records[0].number, 1U);
    EXPECT_EQ(emit.records[2].number, 3U);
}

TEST(TextLines, AnyBytesAndAnyChunkSizeAgainstGetline) {
    const Folder folder;
    std::mt19937_64 random(11);
    for (int round = 0; round < 25; ++round) {
        std::string content;
        const std::size_t bytes = random() % 1500;
        const auto kinds = 3 + random() % 60;  // of few kinds: many newlines
        while (content.size() < bytes) {
            const auto kind = random() % kinds;
            content += kind == 0 ? '\n' : kind == 1 ? '\r' : static_cast<char>(random() % 256);
        }
        const auto path = folder.write("a", content);
        for (const std::size_t chunk_bytes : {1U, 2U, 7U, 64U, 1000U, 100'000U}) {
            const auto source = text_lines(path, {.text = {.chunk_bytes = chunk_bytes}});
            const auto emit = drain(source, {}, 1 + random() % 50);
            ASSERT_EQ(texts(emit), expected_lines(content)) << "chunk of " << chunk_bytes;
        }
    }
}

TEST(TextLines, ALineOfAHundredMegabytes) {
    const Folder folder;
    constexpr std::size_t long_bytes = 100'000'000;
    const std::string content = "a\n" + std::string(long_bytes, 'x') + "\nb\n";
    const auto path = folder.write("a", content);
    auto source = text_lines(path);
    test::open(source);
    std::vector<std::size_t> lengths;
    struct Lengths {
        std::vector<std::size_t>& lengths;
        bool operator()(Line&& line) {
            lengths.push_back(line.text.size());
            return true;
        }
        void keep_alive(const memory::TextReference& chunk) { current = chunk; }
        void ingress_at(std::int64_t) {}
        void count_malformed(std::uint64_t) {}
        memory::TextReference current{};
    } emit{lengths};
    while (source.poll(emit, 100) != SourceStatus::finished) {
    }
    EXPECT_THAT(lengths, ElementsAre(1, long_bytes, 1));
}

TEST(TextLines, LinesBeyondTheLimitFollowThePolicyWhateverTheChunks) {
    const Folder folder;
    const std::string content = "12345\n123456\nab\r\n12345\r\n123456\r\n" +
                                std::string(5000, 'y') + "\nend\n" + std::string(6, 'z');
    const auto path = folder.write("a", content);
    for (const std::size_t chunk_bytes : {1U, 6U, 8U, 100U, 100'000U}) {
        std::vector<std::uint64_t> refused;
        const TextLinesOptions options{
            .on_malformed = OnMalformed::dead_letter,
            .dead_letter = [&](const MalformedLine& line) { refused.push_back(line.line); },
            .text = {.chunk_bytes = chunk_bytes, .line_bytes_max = 5}};
        const auto emit = drain(text_lines(path, options));
        EXPECT_THAT(texts(emit), ElementsAre("12345", "ab", "12345", "end")) << chunk_bytes;
        EXPECT_THAT(refused, ElementsAre(2, 5, 6, 8)) << chunk_bytes;
        EXPECT_EQ(emit.malformed, 4U);
        EXPECT_EQ(emit.records.back().number, 7U);
        EXPECT_EQ(message_of<InputOutputError>([&] {
                      drain(text_lines(
                          path, {.text = {.chunk_bytes = chunk_bytes, .line_bytes_max = 5}}));
                  }),
                  path + ":2: the line is longer than 5 bytes");
    }
}

TEST(TextLines, ChunksInUseDownstreamHoldTheSourceBack) {
    const Folder folder;
    std::string content;
    for (int i = 0; i < 10'000; ++i) content += std::to_string(i) + "\n";
    auto source =
        text_lines(folder.write("a", content), {.text = {.chunk_bytes = 1000, .chunks = 4}});
    test::open(source);
    Emit<Line> emit;
    while (source.poll(emit, 1000) == SourceStatus::more) {
    }
    EXPECT_EQ(source.poll(emit, 1000), SourceStatus::held);
    EXPECT_GT(source.wake_at_ns(), 0);
    EXPECT_LE(emit.chunks.size(), 4U);
    EXPECT_LT(emit.records.size(), 10'000U);
    std::size_t seen = 0;
    for (;;) {  // let go of what was read, and it goes on where it was
        for (const Line& line : emit.records) EXPECT_EQ(line.text, std::to_string(seen++));
        emit.records.clear();
        emit.chunks.clear();
        if (source.poll(emit, 1000) == SourceStatus::finished) break;
    }
    for (const Line& line : emit.records) EXPECT_EQ(line.text, std::to_string(seen++));
    EXPECT_EQ(seen, 10'000U);
}

TEST(TextLines, ARefusingReceiverLosesNothing) {
    const Folder folder;
    auto source = text_lines(folder.write("a", "a\nb\nc\n"));
    test::open(source);
    Emit<Line> emit;
    emit.refuse_from = 0;
    EXPECT_EQ(source.poll(emit, 100), SourceStatus::more);
    EXPECT_THAT(texts(emit), ElementsAre("a"));
    emit.refuse_from = SIZE_MAX;
    EXPECT_EQ(source.poll(emit, 100), SourceStatus::finished);
    EXPECT_THAT(texts(emit), ElementsAre("a", "b", "c"));
    EXPECT_EQ(source.fraction_done(), 1);
    EXPECT_EQ(source.bytes_read(), 6U);
}

TEST(TextLines, ReplicaZeroReadsTheFile) {
    const Folder folder;
    const auto source = text_lines(folder.write("a", "a\nb\n"));
    EXPECT_EQ(drain(source, {"s", 0, 3}).records.size(), 2U);
    EXPECT_EQ(drain(source, {"s", 1, 3}).records.size(), 0U);
    EXPECT_EQ(drain(source, {"s", 0, 3}).records.size(), 2U);  // a copy starts again
}

TEST(TextLines, APipeDeliversEachLineAsSoonAsItIsThere) {
    const Folder folder;
    const auto path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    auto source = text_lines(path);
    EXPECT_TRUE(source.blocks());
    test::open(source);
    Emit<Line> emit;
    EXPECT_EQ(source.poll(emit, 10), SourceStatus::idle);
    const int writer = ::open(path.c_str(), O_WRONLY);
    ASSERT_GE(writer, 0);
    ASSERT_EQ(::write(writer, "one\ntw", 6), 6);
    EXPECT_EQ(source.poll(emit, 10), SourceStatus::idle);
    EXPECT_THAT(texts(emit), ElementsAre("one"));
    EXPECT_EQ(source.fraction_done(), -1);
    ASSERT_EQ(::write(writer, "o", 1), 1);
    EXPECT_EQ(source.poll(emit, 10), SourceStatus::idle);
    ::close(writer);
    SourceStatus status = SourceStatus::idle;
    while (status != SourceStatus::finished) status = source.poll(emit, 10);
    EXPECT_THAT(texts(emit), ElementsAre("one", "two"));
    EXPECT_EQ(source.fraction_done(), 1);
}

// The latency of a record begins when it arrives, not when the poll began to wait for it.
TEST(TextLines, ALineOfAPipeEntersWhenItArrives) {
    const Folder folder;
    const auto path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    auto source = text_lines(path);
    test::open(source);
    Emit<Line> emit;
    EXPECT_EQ(source.poll(emit, 10), SourceStatus::idle);
    std::int64_t written_ns = 0;
    std::thread writer([&] {
        const int pipe = ::open(path.c_str(), O_WRONLY);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        written_ns = now_ns();
        EXPECT_EQ(::write(pipe, "one\n", 4), 4);
        ::close(pipe);
    });
    while (source.poll(emit, 10) != SourceStatus::finished) {
    }
    writer.join();
    ASSERT_THAT(texts(emit), ElementsAre("one"));
    EXPECT_GE(emit.ingress_ns[0], written_ns);
    EXPECT_LE(emit.ingress_ns[0], now_ns());
}

TEST(TextLines, StandardInput) {
    const Folder folder;
    const int before = ::dup(STDIN_FILENO);
    const int file = ::open(folder.write("a", "x\ny\n").c_str(), O_RDONLY);
    ASSERT_EQ(::dup2(file, STDIN_FILENO), STDIN_FILENO);
    ::close(file);
    EXPECT_FALSE(text_lines("-").blocks());
    EXPECT_THAT(texts(drain(text_lines("-"))), ElementsAre("x", "y"));
    EXPECT_EQ(::lseek(STDIN_FILENO, 0, SEEK_CUR), 4) << "standard input stays open";
    ::dup2(before, STDIN_FILENO);
    ::close(before);
}

TEST(TextLines, ImpossibleOptionsAreRefused) {
    const Folder folder;
    const auto path = folder.write("a", "a\n");
    EXPECT_THROW((void)text_lines(path, {.text = {.chunk_bytes = 0}}), GraphError);
    EXPECT_THAT(message_of<GraphError>(
                    [&] { (void)text_lines(path, {.on_malformed = OnMalformed::dead_letter}); }),
                HasSubstr("dead_letter"));
}

}  // namespace
}  // namespace strid
