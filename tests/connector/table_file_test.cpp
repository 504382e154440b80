// SPDX-License-Identifier: Apache-2.0
//
// Tables from files: what is read, what is wrong with a file, and what becomes of a file that is
// exchanged, written in place, half written, or gone; and tables of a server that goes away.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/log.hpp>
#include <strid/connector/table_file.hpp>
#include <strid/connector/transport.hpp>

#include "../support/folder.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;

struct Ad {
    std::uint32_t number;
    std::uint32_t campaign;
};
struct Network {
    std::uint32_t first;
    std::uint32_t last;
    std::string name;
};
struct Tariff {
    double from;
    double price;
};
struct Named {
    std::string name;
    int value;
};

/// The text of an InputOutputError that `make` throws.
std::string error_of(const std::function<void()>& make) {
    try {
        make();
    } catch (const InputOutputError& error) {
        return error.what();
    }
    return "none";
}
auto ads(const std::string& path, const TableFileOptions& options = {}) {
    return lookup_file<&Ad::number, &Ad::campaign>(path, options);
}

/// Waits until it is true, for a minute.
template <class Condition>
[[nodiscard]] bool comes(const Condition& condition) {
    for (int i = 0; i < 60'000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

TEST(TableFile, ReadsEachKindOfTable) {
    const test::Folder folder;
    const auto campaigns = ads(folder.write("ads.csv", "7,70\n3,30\n"));
    EXPECT_EQ(*campaigns.table()->find(std::uint32_t{7}), 70U);
    EXPECT_EQ(campaigns.table()->find(std::uint32_t{4}), nullptr);
    const auto networks =
        range_file<&Network::first, &Network::last>(folder.write("net.csv", "10,19,b\n0,9,a\n"));
    EXPECT_EQ(networks.table()->find(std::uint32_t{9})->name, "a");
    EXPECT_EQ(networks.table()->find(std::uint32_t{20}), nullptr);
    const auto tariffs = step_file<&Tariff::from>(folder.write("t.csv", "0,1.5\n8.5,2\n"));
    EXPECT_EQ(tariffs.table()->find(8.4)->price, 1.5);
    EXPECT_EQ(tariffs.table()->find(9.0)->price, 2);
    const auto names = lookup_file<&Named::name>(folder.write("n.csv", "value,name\n1,x\n2,y\n"),
                                                 {.csv = {.columns = {"name", "value"}}});
    EXPECT_EQ(names.table()->find(std::string_view("y"))->value, 2);
}

TEST(TableFile, AnEmptyFileIsAnEmptyTable) {
    const test::Folder folder;
    const auto campaigns = ads(folder.write("ads.csv", ""));
    EXPECT_EQ(campaigns.table()->size(), 0U);
    EXPECT_EQ(campaigns.table()->find(std::uint32_t{0}), nullptr);
    EXPECT_TRUE(campaigns.reload());
}

TEST(TableFile, NamesTheFileAndTheLineOfWhatIsWrong) {
    const test::Folder folder;
    const std::string path = folder.file("ads.csv");
    const auto error = [&](const std::string& content) {
        folder.write("ads.csv", content);
        return error_of([&] { (void)ads(path); });
    };
    EXPECT_EQ(error("1,2\n2,x\n").substr(0, path.size() + 2), path + ":2");
    EXPECT_EQ(error("1,2\n3\n").substr(0, path.size() + 2), path + ":2");
    EXPECT_EQ(error("1,2\n\n3,4\n1,9\n"), path + ":4: the key 1 is named twice, first in line 1");
    std::filesystem::remove(path);
    EXPECT_NE(error_of([&] { (void)ads(path); }).find(path), std::string::npos);
    folder.write("ads.csv", "5,9,a\n8,12,b\n");
    EXPECT_EQ(error_of([&] { (void)range_file<&Network::first, &Network::last>(path); }),
              path + ":2: a range overlaps another, first in line 1");
    folder.write("ads.csv", "1,2\n5,6\n");
    const auto refuse_five = [](const Ad& ad) {
        return ad.number == 5 ? std::string{"five is no ad"} : std::string{};
    };
    EXPECT_EQ(
        error_of([&] { (void)lookup_file<&Ad::number, &Ad::campaign>(path, {}, refuse_five); }),
        path + ":2: five is no ad");
}

TEST(TableFile, IsReadAgainWhereItIsAsked) {
    const test::Folder folder;
    const std::string path = folder.write("ads.csv", "1,10\n");
    const auto campaigns = ads(path);
    const auto current = campaigns.current();
    folder.write("ads.csv", "1,11\n2,20\n");
    EXPECT_EQ(*campaigns.table()->find(std::uint32_t{1}), 10U);
    EXPECT_TRUE(campaigns.reload());
    EXPECT_EQ(campaigns.version(), 1U);
    EXPECT_EQ(*current.table()->find(std::uint32_t{1}), 11U);
    EXPECT_EQ(*current.table()->find(std::uint32_t{2}), 20U);
    EXPECT_EQ(campaigns.last_failure(), "");
}

TEST(TableFile, KeepsTheOldVersionWhereANewOneIsWrong) {
    const test::Folder folder;
    const std::string path = folder.write("ads.csv", "1,10\n");
    std::vector<std::string> reported;
    const auto campaigns = ads(
        path, {.report = [&reported](const std::string& failure) { reported.push_back(failure); }});
    const auto expect_kept = [&](const std::string& words) {
        EXPECT_FALSE(campaigns.reload());
        EXPECT_NE(campaigns.last_failure().find(path), std::string::npos);
        EXPECT_NE(campaigns.last_failure().find(words), std::string::npos)
            << campaigns.last_failure();
        ASSERT_FALSE(reported.empty());
        EXPECT_EQ(reported.back(), campaigns.last_failure());
        EXPECT_EQ(*campaigns.table()->find(std::uint32_t{1}), 10U);
        EXPECT_EQ(campaigns.version(), 0U);
    };
    folder.write("ads.csv", "1,11\n2,two\n");
    expect_kept(":2");
    folder.write("ads.csv", "1,11\n2,20\n1,12\n");
    expect_kept(":3");
    // Half of "2,2000": a row like any other, but for its end.
    folder.write("ads.csv", "1,11\n2,20");
    expect_kept("half written");
    std::filesystem::remove(path);
    expect_kept("No such file");
    std::filesystem::create_directory(path);
    expect_kept("regular file");
    EXPECT_EQ(campaigns.failures(), 5U);
    EXPECT_EQ(reported.size(), 5U);
    std::filesystem::remove(path);
    folder.write("ads.csv", "1,12\n");
    EXPECT_TRUE(campaigns.reload());
    EXPECT_EQ(*campaigns.table()->find(std::uint32_t{1}), 12U);
    EXPECT_EQ(campaigns.last_failure(), "");
}

TEST(TableFile, TakesNoFileOverThatChangesWhileItIsRead) {
    const test::Folder folder;
    const std::string path = folder.write("ads.csv", "1,10\n");
    bool appends = false;
    const auto append = [&](const Ad&) {
        if (appends) std::ofstream(path, std::ios::app) << "2,20\n";
        appends = false;
        return std::string{};
    };
    const auto campaigns = lookup_file<&Ad::number, &Ad::campaign>(path, {}, append);
    appends = true;
    EXPECT_FALSE(campaigns.reload());
    EXPECT_NE(campaigns.last_failure().find("changed while it was read"), std::string::npos);
    EXPECT_EQ(campaigns.table()->size(), 1U);
    EXPECT_TRUE(campaigns.reload());
    EXPECT_EQ(campaigns.table()->size(), 2U);
}

TEST(TableFile, LooksWhetherTheFileIsAnother) {
    const test::Folder folder;
    const std::string path = folder.write("ads.csv", "1,10\n");
    const auto campaigns = ads(path, {.check_every = 2ms});
    for (std::uint32_t version = 1; version <= 5; ++version) {
        const std::string beside = folder.write("next", "1," + std::to_string(version) + "\n");
        std::filesystem::rename(beside, path);
        ASSERT_TRUE(comes([&] { return campaigns.version() == version; }));
        EXPECT_EQ(*campaigns.table()->find(std::uint32_t{1}), version);
    }
    // In place: once it rests.
    folder.write("ads.csv", "1,77\n2,20\n");
    ASSERT_TRUE(comes([&] { return campaigns.table()->size() == 2; }));
    EXPECT_EQ(*campaigns.table()->find(std::uint32_t{1}), 77U);
}

TEST(TableFile, ReportsAWrongVersionOnce) {
    const test::Folder folder;
    const std::string path = folder.write("ads.csv", "1,10\n");
    const auto campaigns = ads(path, {.check_every = 1ms});
    std::filesystem::rename(folder.write("next", "1,x\n"), path);
    ASSERT_TRUE(comes([&] { return campaigns.failures() == 1; }));
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(campaigns.failures(), 1U);
    std::filesystem::remove(path);
    ASSERT_TRUE(comes([&] { return campaigns.failures() == 2; }));
    std::filesystem::rename(folder.write("next", "1,11\n"), path);
    ASSERT_TRUE(comes([&] { return campaigns.version() == 1; }));
    EXPECT_EQ(campaigns.failures(), 2U);
}

TEST(TableFile, RefusesToLookAtWhatCannotBeReadAgain) {
    const test::Folder folder;
    EXPECT_THROW((void)ads("/dev/null", {.check_every = 1s}), GraphError);
    EXPECT_THROW((void)ads(folder.write("ads.csv", ""), {.check_every = -1s}), GraphError);
    EXPECT_EQ(ads("/dev/null").table()->size(), 0U);
}

TEST(TableFile, TheThreadEndsWithTheLastHandle) {
    const test::Folder folder;
    const std::string path = folder.write("ads.csv", "1,10\n");
    auto current = [&] { return ads(path, {.check_every = 1ms}).current(); }();
    // The handle of the graph keeps it.
    std::filesystem::rename(folder.write("next", "1,11\n"), path);
    ASSERT_TRUE(comes([&] { return current.version() == 1; }));
    ASSERT_EQ(current.files().size(), 1U);
    EXPECT_EQ(current.files()[0].path, path);
    current = CurrentTable<LookupTable<std::uint32_t, std::uint32_t>>{};
}

/// A server whose table is read at addresses `rows:`, and `text:`, which is no table.
struct RowServer {
    std::mutex mutex;
    std::string rows = "number,campaign\n1,10\n";
    bool is_away = false;
    bool is_silent = false;  // behind the rows
    bool has_positions = false;
    int reads = 0;

    void set(std::string now, bool away = false) {
        const std::lock_guard lock(mutex);
        rows = std::move(now);
        is_away = away;
    }
    [[nodiscard]] int count() {
        const std::lock_guard lock(mutex);
        return reads;
    }
};

class RowInput final : public TransportInput {
  public:
    explicit RowInput(RowServer& server) : server_(server) {
        const std::lock_guard lock(server.mutex);
        ++server.reads;
        // The reason is another one each time.
        if (server.is_away) throw ConnectionLost("rows: away " + std::to_string(server.reads));
        text_ = server.rows;
    }
    ByteReader::Result read(std::span<char> out, int /*wait_ms*/) override {
        if (text_.empty()) {
            const std::lock_guard lock(server_.mutex);
            return {server_.is_silent ? ByteReader::Status::waiting : ByteReader::Status::end, 0};
        }
        const std::size_t bytes = std::min(out.size(), text_.size());
        std::copy_n(text_.begin(), bytes, out.begin());
        text_.erase(0, bytes);
        return {ByteReader::Status::read, bytes};
    }
    [[nodiscard]] bool has_positions() const noexcept override { return server_.has_positions; }

  private:
    RowServer& server_;
    std::string text_;
};

class ServerTable : public testing::Test {
  protected:
    ServerTable() {
        for (const bool is_table : {true, false}) {
            add_transport({.scheme = is_table ? "rows" : "text",
                           .is_table = is_table,
                           .input = [this](const TransportAddress&) {
                               return std::make_unique<RowInput>(server);
                           }});
        }
    }
    ~ServerTable() override {
        add_transport({.scheme = "rows"});
        add_transport({.scheme = "text"});
    }

    RowServer server;
};

TEST_F(ServerTable, IsReadByTheNamesOfItsColumns) {
    server.set("name,campaign,number\na,10,1\nb,20,2\n");
    const auto campaigns = ads("rows:x", {.csv = {.columns = {"number", "campaign"}}});
    EXPECT_EQ(*campaigns.table()->find(std::uint32_t{2}), 20U);
    EXPECT_NE(error_of([] {
                  (void)ads("rows:x", {.csv = {.columns = {"number", "price"}}});
              }).find("no column 'price'"),
              std::string::npos);
    // The names are never a row, also where all columns are texts.
    struct Word {
        std::string from;
        std::string to;
    };
    server.set("from,to\nja,yes\n");
    EXPECT_EQ((lookup_file<&Word::from, &Word::to>("rows:x").table()->size()), 1U);
}

TEST_F(ServerTable, IsReadAgainWhetherItHasChangedOrNot) {
    const auto campaigns = ads("rows:x", {.check_every = 1ms});
    server.set("number,campaign\n1,11\n2,20\n");
    ASSERT_TRUE(comes([&] { return campaigns.table()->size() == 2; }));
    EXPECT_EQ(*campaigns.table()->find(std::uint32_t{1}), 11U);
    const auto by_hand = ads("rows:x");
    server.set("number,campaign\n");
    EXPECT_TRUE(by_hand.reload());
    EXPECT_EQ(by_hand.table()->size(), 0U);
}

TEST_F(ServerTable, KeepsTheTableWhileTheServerIsAwayAndReportsItOnce) {
    std::mutex mutex;
    std::vector<std::string> reported;
    std::vector<std::string> logged;
    set_log([&](const LogMessage& message) { logged.emplace_back(message.text); });
    const struct WithoutLog {
        ~WithoutLog() { set_log(nullptr); }
    } at_the_end;
    const auto campaigns = ads("rows:x", {.check_every = 1ms, .report = [&](const auto& failure) {
                                              const std::lock_guard lock(mutex);
                                              reported.push_back(failure);
                                          }});
    for (std::uint64_t times = 1; times <= 2; ++times) {
        server.set("", true);
        const int before = server.count();
        ASSERT_TRUE(comes([&] { return server.count() > before + 5; }));
        EXPECT_EQ(campaigns.failures(), times);
        EXPECT_EQ(campaigns.last_failure().substr(0, 10), "rows: away");
        EXPECT_NE(campaigns.table()->size(), 0U);
        server.set("number,campaign\n1," + std::to_string(times) + "\n");
        ASSERT_TRUE(comes([&] { return *campaigns.table()->find(std::uint32_t{1}) == times; }));
        ASSERT_TRUE(comes([&] { return campaigns.last_failure().empty(); }));
    }
    // A fault of the table is reported once while it is the same.
    for (std::uint64_t times = 1; times <= 2; ++times) {
        server.set("number,campaign\n1,1\n1," + std::to_string(times) + "\nx,1\n");
        const int before = server.count();
        ASSERT_TRUE(comes([&] { return server.count() > before + 5; }));
        EXPECT_EQ(campaigns.failures(), 3U);
        EXPECT_EQ(campaigns.last_failure().substr(0, 9), "rows:x:4:");
    }
    set_log(nullptr);
    const std::lock_guard lock(mutex);
    EXPECT_EQ(reported.size(), 3U);
    EXPECT_EQ(logged.size(), 3U);
    EXPECT_EQ(logged[0], reported[0] + ": look-ups go on in the table as it was");
}

TEST_F(ServerTable, WithoutAServerThereIsNoFirstVersion) {
    server.set("", true);
    EXPECT_THROW((void)ads("rows:x", {.check_every = 1ms}), ConnectionLost);
}

TEST_F(ServerTable, RefusesWhatHasNoEnd) {
    EXPECT_THROW((void)ads("text:x"), GraphError);
    EXPECT_THROW((void)ads("kafka://127.0.0.1:9092/x"), GraphError);
    server.has_positions = true;
    EXPECT_THROW((void)ads("rows:x"), GraphError);
}

TEST_F(ServerTable, ASilentServerHoldsUpNoEnd) {
    {
        const auto campaigns = ads("rows:x", {.check_every = 1ms});
        const int before = server.count();
        {
            const std::lock_guard lock(server.mutex);
            server.is_silent = true;
        }
        ASSERT_TRUE(comes([&] { return server.count() > before; }));
    }
    EXPECT_FALSE(server.is_away);
}

}  // namespace
}  // namespace strid
