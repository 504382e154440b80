// SPDX-License-Identifier: Apache-2.0
//
// The log of reports for a program that calls start() itself: its lines rise, the last one has the
// records that were pushed, and a place that cannot be written costs a warning.
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/program/report_log.hpp>
#include <strid/stream/graph.hpp>

namespace strid {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A file that is removed at the end.
class ReportFile {
  public:
    ReportFile() : path_(testing::TempDir() + "strid_report_log_" + std::to_string(::getpid())) {}
    ~ReportFile() { ::unlink(path_.c_str()); }
    ReportFile(const ReportFile&) = delete;
    ReportFile& operator=(const ReportFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> all;
        std::ifstream file(path_);
        for (std::string line; std::getline(file, line);) all.push_back(line);
        return all;
    }

  private:
    std::string path_;
};

std::string records_in(int count) {
    return "\"records_in\":" + std::to_string(count) + ",";
}

TEST(ReportLog, LinesFollowTheRunAndTheLastHasItsTotals) {
    const ReportFile file;
    Graph graph{"followed"};
    auto [inlet, numbers] = graph.inlet<int>();
    std::move(numbers).sink([](int) {});
    Running running = start(graph);
    ReportLog log({.path = file.path(), .every = 1ms});
    log.begin(running);
    for (int i = 0; i < 700; ++i) EXPECT_TRUE(inlet.push(i));
    while (file.lines().empty() || file.lines().back().find(records_in(700)) == std::string::npos) {
        std::this_thread::sleep_for(1ms);
    }
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(inlet.push(i));
    inlet.close();
    EXPECT_EQ(running.wait().records_in(), 705U);
    log.end();
    const auto lines = file.lines();
    EXPECT_THAT(lines.front(), HasSubstr("\"running\":true,"));
    EXPECT_THAT(lines.back(), HasSubstr("\"running\":false,"));
    EXPECT_THAT(lines.back(), HasSubstr(records_in(705)));
    for (const std::string& line : lines) {
        EXPECT_TRUE(line.starts_with("{\"time\":\"20")) << line;
        EXPECT_TRUE(line.ends_with("}")) << line;
        EXPECT_THAT(line, HasSubstr("\"graph\":\"followed\","));
    }
}

TEST(ReportLog, AFullDiskIsReportedOnceAndTheRunGoesOn) {
    std::vector<std::string> warnings;
    Graph graph{"full"};
    auto [inlet, numbers] = graph.inlet<int>();
    std::move(numbers).sink([](int) {});
    Running running = start(graph);
    ReportLog log({.path = "/dev/full", .every = 1ms, .on_warning = [&](const std::string& text) {
                       warnings.push_back(text);
                   }});
    log.begin(running);
    std::this_thread::sleep_for(50ms);
    EXPECT_TRUE(inlet.push(1));
    inlet.close();
    EXPECT_EQ(running.wait().records_in(), 1U);
    log.end();
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings.front(), HasSubstr("/dev/full"));
}

TEST(ReportLog, WhatCannotBeIsRefused) {
    EXPECT_THROW(ReportLog({.path = "/no/such/folder/file"}), InputOutputError);
    EXPECT_THROW(ReportLog({.path = "/dev/null", .every = 999us}), GraphError);
    ReportLog unused({.path = "/dev/null"});
    unused.end();
    unused.end();
}

}  // namespace
}  // namespace strid
