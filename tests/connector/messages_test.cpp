// SPDX-License-Identifier: Apache-2.0
//
// Sources of messages: a run that goes on begins at the message that its place is in, also where
// the messages come in another order then, and a message has several rows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/connector/transport.hpp>

#include "../support/seeds.hpp"
#include "drive.hpp"

namespace strid {
namespace {

struct Row {
    int id;
};

/// Two logs of messages, which each reader reads in an order of its own. A position is the message
/// that is read first, or -1, and the next one of each log.
class TwoLogs final : public TransportInput {
  public:
    using Log = std::vector<std::string>;
    TwoLogs(const std::vector<Log>& logs, std::uint64_t seed) : logs_(logs), random_(seed) {}

    ByteReader::Result read(std::span<char> out, int /*wait_ms*/) override {
        using enum ByteReader::Status;
        if (given_ == text_.size() && !take()) return {end, 0};
        const std::size_t bytes = std::min({out.size(), text_.size() - given_, std::size_t{11}});
        std::copy_n(text_.data() + given_, bytes, out.data());
        given_ += bytes;
        return {read_, bytes};
    }
    [[nodiscard]] bool has_positions() const noexcept override { return true; }
    void passed(std::uint64_t bytes) override { passed_ = bytes; }
    [[nodiscard]] Position position(std::uint64_t bytes) override {
        EXPECT_GE(bytes, passed_);
        if (alone_ >= 0) return {position_, 0};
        std::size_t next[2] = {first_[0], first_[1]};
        int within = -1;
        std::uint64_t before = 0;
        for (const auto& [log, end] : taken_) {
            if (bytes < end) {
                if (bytes > before) within = static_cast<int>(log);
                break;
            }
            ++next[log];
            before = end + 1;
        }
        return {
            std::to_string(within) + " " + std::to_string(next[0]) + " " + std::to_string(next[1]),
            within < 0 ? bytes : before};
    }
    void go_on_at(std::string_view position) override {
        position_ = position;
        ASSERT_EQ(std::sscanf(std::string(position).c_str(), "%d %zu %zu", &alone_, &first_[0],
                              &first_[1]),
                  3);
    }

  private:
    static constexpr auto read_ = ByteReader::Status::read;

    bool take() {
        std::size_t log = random_() % 2;
        if (alone_ >= 0) log = static_cast<std::size_t>(std::exchange(alone_, -1));
        if (at(log) == logs_[log].size()) log = 1 - log;
        if (at(log) == logs_[log].size()) return false;
        const std::string& message = logs_[log][at(log)];
        ++read_of_[log];
        text_ = message + '\n';
        given_ = 0;
        taken_.emplace_back(log, bytes_ + message.size());
        bytes_ += text_.size();
        return true;
    }
    [[nodiscard]] std::size_t at(std::size_t log) const { return first_[log] + read_of_[log]; }

    const std::vector<Log>& logs_;
    std::mt19937_64 random_;
    std::string position_;  // that was gone on at
    int alone_ = -1;
    std::size_t first_[2] = {};
    std::size_t read_of_[2] = {};
    std::string text_;
    std::size_t given_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t passed_ = 0;
    std::vector<std::pair<std::size_t, std::uint64_t>> taken_;  // log, end without the newline
};

class Messages : public testing::Test {
  protected:
    Messages() {
        add_transport({.scheme = "logs", .input = [this](const TransportAddress&) {
                           return std::make_unique<TwoLogs>(logs, random());
                       }});
    }
    ~Messages() override { add_transport({.scheme = "logs"}); }

    /// Messages of up to three rows in each log; the rows have the numbers from 0 on.
    int fill(bool is_json) {
        int id = 0;
        for (int i = 0; i != 40; ++i) {
            std::string message;
            for (std::uint64_t rows = random() % 3; rows + 1 != 0; --rows) {
                if (!message.empty()) message += '\n';
                const std::string number = std::to_string(id++);
                message += is_json ? "{\"id\":" + number + "}" : number;
            }
            logs[random() % 2].push_back(message);
        }
        return id;
    }
    /// Reads up to `most` rows, takes a snapshot and reads the rest with a source of its own; or
    /// takes several, one of them before it has read anything, and once more after some rows.
    template <class Source>
    std::vector<int> with_cuts(const Source& source, std::size_t most) {
        std::vector<int> ids;
        const auto read = [&ids, this](Source& from, std::size_t up_to) {
            while (ids.size() < up_to) {
                test::Emit<Row> emit;
                const auto status = from.poll(emit, 1 + random() % 3);
                for (const Row& row : emit.records) ids.push_back(row.id);
                if (status == SourceStatus::finished) return;
            }
        };
        Source first = source;
        test::open(first);
        read(first, most);
        first.on(SnapshotBegins{1});
        auto state = std::apply([](auto&... parts) { return std::tuple(parts...); }, first.state());
        for (std::uint64_t cut = random() % 4; cut != 0; --cut) {
            Source again = source;
            test::open(again);
            again.state() = state;
            again.on(Restored{});
            if (random() % 2 == 0) read(again, ids.size() + random() % 4);
            again.on(SnapshotBegins{2});
            state = again.state();
        }
        Source next = source;
        test::open(next);
        next.state() = state;
        next.on(Restored{});
        read(next, SIZE_MAX);
        std::sort(ids.begin(), ids.end());
        return ids;
    }
    template <class Source>
    void check(const Source& source, int rows) {
        for (std::size_t most = 0; most <= static_cast<std::size_t>(rows); ++most) {
            const auto ids = with_cuts(source, most);
            ASSERT_EQ(ids.size(), static_cast<std::size_t>(rows)) << most;
            for (int i = 0; i != rows; ++i) ASSERT_EQ(ids[static_cast<std::size_t>(i)], i) << most;
        }
    }

    std::mt19937_64 random{test::first_seed()};
    std::vector<TwoLogs::Log> logs{2};
};

TEST_F(Messages, OfJsonGoOnWhereTheyWere) {
    const int rows = fill(true);
    check(json_lines<Row>("logs:", {.members = {"id"}}), rows);
}

TEST_F(Messages, OfCsvGoOnWhereTheyWere) {
    const int rows = fill(false);
    check(csv_file<Row>("logs:"), rows);
}

TEST_F(Messages, HaveNoHeader) {
    (void)fill(false);
    auto source = csv_file<Row>("logs:", {.header = CsvHeader::skip});
    EXPECT_THAT(test::message_of<InputOutputError>([&] { (void)test::drain(source); }),
                testing::HasSubstr("messages of CSV have no header: CsvHeader::none"));
}

}  // namespace
}  // namespace strid
