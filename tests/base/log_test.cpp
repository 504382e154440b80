// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/log.hpp>
#include <strid/engine/base/terminal.hpp>

namespace strid {
namespace {

struct Seen {
    LogLevel level;
    std::string event;
    std::string text;
};

class Log : public testing::Test {
  protected:
    void TearDown() override { set_log(nullptr); }

    void keep() {
        set_log([this](const LogMessage& message) {
            seen_.push_back({message.level, std::string(message.event), std::string(message.text)});
        });
    }

    std::vector<Seen> seen_;
};

TEST_F(Log, HasTheLevelsOfSentences) {
    keep();
    write_to_stderr("strid: error: a.csv: line 3\n  x\n");
    write_to_stderr("strid: warning: slow\n");
    write_to_stderr("strid: reading from the terminal\n");
    write_to_stderr("");
    write_to_stderr("\nother: text\n");
    ASSERT_EQ(seen_.size(), 4U);
    EXPECT_EQ(seen_[0].level, LogLevel::error);
    EXPECT_EQ(seen_[0].text, "a.csv: line 3\n  x");
    EXPECT_EQ(seen_[1].level, LogLevel::warning);
    EXPECT_EQ(seen_[1].text, "slow");
    EXPECT_EQ(seen_[2].level, LogLevel::info);
    EXPECT_EQ(seen_[2].text, "reading from the terminal");
    EXPECT_EQ(seen_[3].text, "other: text");
}

TEST_F(Log, WithoutOneEventsAreNowhere) {
    EXPECT_FALSE(has_log());
    testing::internal::CaptureStderr();
    log_event({.event = "started", .text = "a"});
    write_to_stderr("b\n");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "b\n");
}

TEST_F(Log, AHandlerThatThrowsLosesNoSentence) {
    set_log([](const LogMessage&) { throw std::runtime_error("full"); });
    testing::internal::CaptureStderr();
    write_to_stderr("strid: error: it failed\n");
    log_event({.event = "ended", .text = "a"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "strid: error: it failed\n");
}

TEST_F(Log, AHandlerMayGiveSentences) {
    set_log([](const LogMessage&) { write_to_stderr("from inside\n"); });
    testing::internal::CaptureStderr();
    write_to_stderr("outside\n");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "from inside\n");
}

TEST_F(Log, ThreadsGiveOneMessageAtATime) {
    keep();
    constexpr int threads = 4;
    constexpr int each = 500;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i) {
            all.emplace_back([i] {
                for (int j = 0; j < each; ++j) write_to_stderr(std::to_string(i) + "\n");
            });
        }
    }
    std::array<int, threads> counts{};
    for (const Seen& one : seen_) ++counts[static_cast<std::size_t>(std::stoi(one.text))];
    for (const int count : counts) EXPECT_EQ(count, each);
}

TEST_F(Log, JsonHasFieldsAndEscapes) {
    const std::array<LogField, 3> fields{
        {{"graph", "a\"b"}, {"number", std::uint64_t{7}}, {"seconds", 0.5}}};
    const std::string line = json_line({.level = LogLevel::warning,
                                        .event = "snapshot",
                                        .text = "two\nlines\x1b",
                                        .fields = fields});
    EXPECT_EQ(line.substr(0, 11), "{\"time\":\"20");
    EXPECT_EQ(line.substr(line.find("Z\"") + 2),
              ",\"level\":\"warning\",\"event\":\"snapshot\","
              "\"message\":\"two\\u000alines\\u001b\","
              "\"graph\":\"a\\\"b\",\"number\":7,\"seconds\":0.5}\n");
}

}  // namespace
}  // namespace strid
