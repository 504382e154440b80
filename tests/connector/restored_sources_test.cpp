// SPDX-License-Identifier: Apache-2.0
//
// The state() of a source that has a position is complete: a fresh source with the state of another
// one goes on with the next record. A coroutine has no position to which another could go.
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/connector/paced.hpp>
#include <strid/connector/replay.hpp>
#include <strid/connector/text_lines.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "drive.hpp"

namespace strid::test {
namespace {

/// Polls until the source has ended, or `polls` times.
template <class Source, class T>
bool polls(Source& source, Emit<T>& emit, std::mt19937_64& random, std::size_t polls) {
    for (; polls != 0; --polls) {
        if (source.poll(emit, 1 + random() % 7) == SourceStatus::finished) return true;
    }
    return false;
}

/// The records of a source, which may be stopped, and of another that takes over are those of one.
template <class Make>
void goes_on(const Make& make) {
    for (const std::uint64_t seed : seeds(200)) {
        std::mt19937_64 random{seed};
        const Context context{.name = {}, .replica = random() % 2, .parallelism = 2};
        const auto whole = drain(make(), context);
        Emit<typename decltype(make())::record_type> emit;
        auto fresh = make();
        {
            auto first = make();
            test::open(first, context);
            polls(first, emit, random, random() % 20);
            if constexpr (requires { first.on(Stopped{}); }) {
                if (random() % 3 == 0) {
                    first.on(Stopped{});
                    while (!polls(first, emit, random, 100)) {
                    }
                }
            }
            test::open(fresh, context);
            fresh.state() = first.state();
        }
        operators::notify_source(fresh, Restored{});
        while (!polls(fresh, emit, random, 100)) {
        }
        ASSERT_EQ(emit.records, whole.records) << "seed " << seed;
        ASSERT_EQ(emit.malformed, whole.malformed) << "seed " << seed;
    }
}

TEST(Restored, SourceOfAVector) {
    std::vector<std::int64_t> numbers(97);
    for (std::size_t i = 0; i != numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    goes_on([&] { return from_vector(numbers); });
    goes_on([&] { return replay(numbers, ReplayOptions{.passes = 3}); });
}

TEST(Restored, SourceOfAFunction) {
    goes_on([] {
        return generate(
            [](Random& random, std::uint64_t index) {
                return static_cast<std::int64_t>(random() % 1'000 + 1'000 * index);
            },
            GenerateOptions{.count = 113});
    });
}

struct Row {
    std::int64_t number;
    std::string text;
    friend bool operator==(const Row&, const Row&) = default;
};

class RestoredFiles : public testing::Test {
  protected:
    std::string file(const std::string& name, const std::string& text) const {
        return folder_.write(name, text);
    }
    Folder folder_;
    std::size_t letters = 0;
};

/// Rows go on in several chunks.
constexpr TextOptions small{.chunk_bytes = 24, .line_bytes_max = 60};

TEST_F(RestoredFiles, Tables) {
    std::string one = "\xEF\xBB\xBFtext,number\n";
    std::string other = "number,more,text\n";
    for (int i = 0; i != 12; ++i) {
        const std::string number = std::to_string(i);
        one += "\"two\nlines \"\"" + number + "\"," + number + "\n\r\n";
        if (i % 3 == 0) one += "no number,x" + number + "\n";
        if (i % 4 == 0) one += "long," + number + std::string(90, '0') + "\n";
        other += number + ",,behind" + (i == 11 ? "" : "\n");
    }
    other += ",\n7,,\"open\n";
    const std::vector paths{file("one.csv", one), file("other.csv", other)};
    const auto make = [&] {
        CsvOptions options{.header = CsvHeader::skip, .columns = {"number", "text"}};
        options.on_malformed = OnMalformed::dead_letter;
        options.dead_letter = [this](const MalformedLine&) { ++letters; };
        options.text = small;
        auto source = csv_files<Row>(paths, options);
        source.keep_all_text();
        return source;
    };
    const std::size_t malformed = drain(make()).malformed;
    EXPECT_GT(malformed, 7U);
    letters = 0;
    goes_on(make);
    EXPECT_EQ(letters % malformed, 0U) << "a line was reported twice, or not at all";
    goes_on([&] { return paced(make(), 0); });
}

TEST_F(RestoredFiles, Objects) {
    std::string text = "[";
    for (int i = 0; i != 20; ++i) {
        text += (i == 0 ? "" : i % 3 == 0 ? ",\n" : ", ");
        text += R"({"text": "a\\nb", "number": )" + std::to_string(i) + "}";
        if (i % 5 == 0) text += R"(, {"number": "none"})";
    }
    const std::string path = file("objects.json", text + "]\n");
    goes_on([&] {
        JsonOptions options{.members = {"number", "text"}, .on_malformed = OnMalformed::skip};
        options.text = small;
        auto source = json_lines<Row>(path, options);
        source.keep_all_text();
        return source;
    });
}

TEST_F(RestoredFiles, LinesOfPackedText) {
    std::string text;
    for (int i = 0; i != 40; ++i)
        text += std::string(static_cast<std::size_t>(i * 7 % 80), 'x') + "\n";
    const std::string path = file("lines", text);
    ASSERT_TRUE(shell("gzip -n '" + path + "'"));
    const auto texts = [](const auto& emit) {
        std::vector<std::string> all;
        for (const Line& line : emit.records) all.emplace_back(line.text);
        return all;
    };
    const auto make = [&] {
        auto source = text_lines(path + ".gz", {.on_malformed = OnMalformed::skip, .text = small});
        source.keep_all_text();
        return source;
    };
    const auto whole = drain(make());
    EXPECT_EQ(whole.malformed, 8U);  // i * 7 % 80 is above 60
    for (std::size_t taken = 0; taken <= whole.records.size(); ++taken) {
        Emit<Line> emit;
        auto first = make();
        auto fresh = make();
        test::open(first);
        test::open(fresh);
        for (std::size_t i = 0; i != taken; ++i) {
            while (emit.records.size() == i) (void)first.poll(emit, 1);
        }
        fresh.state() = first.state();
        operators::notify_source(fresh, Restored{});
        while (fresh.poll(emit, 3) != SourceStatus::finished) {
        }
        ASSERT_EQ(texts(emit), texts(whole)) << taken;
        ASSERT_EQ(emit.records.back().number, 40U);
    }
}

TEST_F(RestoredFiles, InputThatCannotBeReadAgainIsRefused) {
    const std::string path = folder_.file("pipe");
    ASSERT_TRUE(shell("mkfifo '" + path + "' && (printf '1\\n2\\n' > '" + path + "' &)"));
    auto source = text_lines(path);
    test::open(source);
    Emit<Line> emit;
    while (emit.records.empty()) (void)source.poll(emit, 1);
    EXPECT_NE(message_of<InputOutputError>([&] {
                  operators::notify_source(source, Restored{});
              }).find("cannot be read once more"),
              std::string::npos);
}

TEST_F(RestoredFiles, FileThatHasBecomeShorterIsRefused) {
    const std::string path = file("lines", "1\n2\n3\n");
    auto first = text_lines(path);
    test::open(first);
    Emit<Line> emit;
    while (emit.records.size() != 2) (void)first.poll(emit, 2);
    file("lines", "1\n");
    auto fresh = text_lines(path);
    test::open(fresh);
    fresh.state() = first.state();
    operators::notify_source(fresh, Restored{});
    const auto all = [&] {
        while (fresh.poll(emit, 3) != SourceStatus::finished) {
        }
    };
    EXPECT_NE(message_of<InputOutputError>(all).find("shorter"), std::string::npos);
}

}  // namespace
}  // namespace strid::test
