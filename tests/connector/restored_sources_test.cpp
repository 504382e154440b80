// SPDX-License-Identifier: Apache-2.0
//
// The state() of a source that has a position is complete: a fresh source with the state of another
// one goes on with the next record. A source without one, as of a coroutine, refuses to go on.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/connector/callback.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/generator.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/connector/paced.hpp>
#include <strid/connector/replay.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/engine/test/observed.hpp>

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

template <class Source>
void move_states(Source& from, Source& into) {
    auto old = from.state();
    auto fresh = into.state();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (detail::move_state(std::get<I>(fresh), std::get<I>(old)), ...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(old)>>{});
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
            move_states(first, fresh);
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

/// Each number is computed from the last, to which it has a pointer.
class Series {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Restored>};
    void on(const Opened&) { last_ = &values_.back(); }
    void on(Restored) { last_ = &values_.back(); }
    std::optional<std::int64_t> operator()(const Context& context) {
        if (values_.size() == 40) return std::nullopt;
        values_.push_back(static_cast<std::int64_t>(context.replica) + *last_ % 1'000 * 7);
        last_ = &values_.back();
        return *last_;
    }
    auto state() { return std::tie(values_); }

  private:
    std::vector<std::int64_t> values_{5};
    std::int64_t* last_ = nullptr;
};

TEST(Restored, SourceOfACallback) {
    goes_on([] {
        return from_callback([next = 0]() mutable -> std::optional<int> {
            return next == 60 ? std::nullopt : std::optional{next++};
        });
    });
    goes_on([] { return from_callback(Series{}); });
    goes_on([] { return paced(from_callback(Series{}), 0); });
}

/// The next record comes from elsewhere in any case.
struct FromAQueue {
    static constexpr FunctionTraits traits{.hears = events<>, .stateless = true};
    std::optional<int> operator()() const {
        return *queue == 9 ? std::nullopt : std::optional{(*queue)++};
    }
    std::shared_ptr<int> queue = std::make_shared<int>(0);
};

TEST(Restored, SourceOfAQueueGoesOnWithItsNextRecord) {
    const FromAQueue queue;
    Emit<int> emit;
    auto first = from_callback(queue);
    auto fresh = from_callback(queue);
    static_assert(std::tuple_size_v<decltype(fresh.state())> == 0);
    test::open(first);
    test::open(fresh);
    (void)first.poll(emit, 4);
    operators::notify_source(fresh, Restored{});
    while (fresh.poll(emit, 3) != SourceStatus::finished) {
    }
    EXPECT_EQ(emit.records, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Restored, SourceWithoutAPlaceIsRefused) {
    const auto refused = [](auto source) {
        test::open(source);
        return message_of<Error>([&] { operators::notify_source(source, Restored{}); });
    };
    EXPECT_NE(refused(from_callback([at = std::make_shared<int>(0)] {
                  return std::optional{(*at)++};
              })).find("give it state()"),
              std::string::npos);
    EXPECT_NE(refused(from_generator([]() -> Generator<int> {
                  co_yield 1;
              })).find("the place of a coroutine cannot be saved"),
              std::string::npos);
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
