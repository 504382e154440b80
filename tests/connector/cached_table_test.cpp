// SPDX-License-Identifier: Apache-2.0
//
// Rows that are asked for by key: which answers are kept, for how long and how many; connections
// that are lost; and several threads, whose answers an obvious table must have given.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/connector/cached_table.hpp>

namespace strid {
namespace {

using namespace std::chrono_literals;

struct Product {
    std::string name;
    std::int64_t number;
    std::optional<int> price;
};

/// A table at addresses `shop:`.
struct Shop {
    std::mutex mutex;
    std::map<std::string, std::vector<std::string>> rows;
    std::map<std::string, int> asked;
    TableQuery query;
    int connections = 0;
    int restarts = 0;  // a connection of before is lost
    bool is_away = false;

    void set(const std::string& key, std::string name, std::string price = "") {
        const std::lock_guard lock(mutex);
        rows[key] = {std::move(name), key, std::move(price)};
    }
    [[nodiscard]] int asked_for(const std::string& key) {
        const std::lock_guard lock(mutex);
        return asked[key];
    }
};

class ShopTable final : public TransportTable {
  public:
    explicit ShopTable(Shop& shop) : shop_(shop) {}
    void open() override {
        const std::lock_guard lock(shop_.mutex);
        if (shop_.is_away) throw ConnectionLost("shop: away");
        restarts_ = shop_.restarts;
        ++shop_.connections;
    }
    std::optional<std::vector<std::string>> find(const std::string& key) override {
        EXPECT_FALSE(is_asked_.exchange(true)) << "by two threads";
        std::this_thread::yield();
        is_asked_ = false;
        const std::lock_guard lock(shop_.mutex);
        ++shop_.asked[key];
        if (shop_.is_away || restarts_ != shop_.restarts) throw ConnectionLost("shop: lost");
        const auto found = shop_.rows.find(key);
        if (found == shop_.rows.end()) return std::nullopt;
        return found->second;
    }

  private:
    Shop& shop_;
    std::atomic<bool> is_asked_ = false;
    int restarts_ = 0;
};

class CachedTableTest : public testing::Test {
  protected:
    CachedTableTest() {
        add_transport({.scheme = "shop",
                       .is_table = true,
                       .table = [this](const TransportAddress&, TableQuery query) {
                           shop.query = std::move(query);
                           return std::make_unique<ShopTable>(shop);
                       }});
    }
    ~CachedTableTest() override { add_transport({.scheme = "shop"}); }

    static auto products(std::size_t entries_max, Duration keep_for) {
        return cached_table<&Product::number>("shop:x", {.columns = {"name", "number", "price"},
                                                         .entries_max = entries_max,
                                                         .keep_for = keep_for});
    }

    Shop shop;
};

TEST_F(CachedTableTest, AsksOnceForEachKeyAndForOneThatIsNotThere) {
    shop.set("1", "tea", "250");
    shop.set("2", "milk");
    const auto table = products(10, 1h);
    EXPECT_EQ(shop.query.key, "number");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(table.find(1)->name, "tea");
        EXPECT_EQ(table.find(1)->price, 250);
        EXPECT_EQ(table.find(2)->price, std::nullopt);
        EXPECT_EQ(table.find(3), nullptr);
    }
    EXPECT_EQ(table.questions(), 3U);
    EXPECT_EQ(shop.connections, 1);
}

TEST_F(CachedTableTest, ForgetsTheAnswerThatWasUsedLongestAgo) {
    for (const char* const key : {"1", "2", "3"}) shop.set(key, "name");
    const auto table = products(2, 1h);
    for (const int key : {1, 2, 1, 3, 1, 2}) (void)table.find(key);
    EXPECT_EQ(shop.asked_for("1"), 1);
    EXPECT_EQ(shop.asked_for("2"), 2);
    EXPECT_EQ(shop.asked_for("3"), 1);
}

TEST_F(CachedTableTest, GivesNoAnswerThatIsTooOld) {
    shop.set("1", "old");
    const auto table = products(10, 20ms);
    EXPECT_EQ(table.find(1)->name, "old");
    shop.set("1", "new");
    std::this_thread::sleep_for(21ms);
    EXPECT_EQ(table.find(1)->name, "new");
    const auto never = products(10, 0ns);
    for (int i = 0; i < 3; ++i) (void)never.find(1);
    EXPECT_EQ(never.questions(), 3U);
}

TEST_F(CachedTableTest, ConnectsOnceMoreBehindARestart) {
    shop.set("1", "tea");
    const auto table = products(10, 0ns);
    EXPECT_NE(table.find(1), nullptr);
    ++shop.restarts;
    EXPECT_NE(table.find(1), nullptr);
    EXPECT_EQ(shop.connections, 2);
    shop.is_away = true;
    EXPECT_THROW((void)table.find(1), ConnectionLost);
    EXPECT_THROW((void)products(10, 1h), ConnectionLost);
    shop.is_away = false;
    EXPECT_NE(table.find(1), nullptr);
}

TEST_F(CachedTableTest, NamesWhatIsWrong) {
    shop.set("1", "tea", "dear");
    const auto table = products(10, 1h);
    try {
        (void)table.find(1);
        ADD_FAILURE() << "a price that is no number";
    } catch (const InputOutputError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "shop:x: of key 1 the column 'price': not an integer: \"dear\"");
    }
    EXPECT_THROW((void)cached_table<&Product::number>("shop:x", {.columns = {"number"}}),
                 GraphError);
    try {
        (void)cached_table<&Product::number>("shop://u:secret@host/x", {.columns = {"number"}});
        ADD_FAILURE() << "an address with a password";
    } catch (const GraphError& error) {
        EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    }
    EXPECT_THROW((void)cached_table<&Product::number>("http-listen://:1/x",
                                                      {.columns = {"name", "number", "price"}}),
                 GraphError);
}

TEST_F(CachedTableTest, IsAskedByManyThreads) {
    constexpr int keys = 50;
    for (int key = 0; key < keys; key += 2) {
        shop.set(std::to_string(key), "n" + std::to_string(key));
    }
    const auto table = products(keys / 3, 1ms);
    std::vector<std::jthread> threads;
    for (int first = 0; first < 4; ++first) {
        threads.emplace_back([&, first] {
            for (int i = 0; i < 2'000; ++i) {
                const int key = (first * 7 + i * 13) % keys;
                const auto row = table.find(key);
                if (key % 2 == 1) {
                    ASSERT_EQ(row, nullptr);
                } else {
                    ASSERT_NE(row, nullptr);
                    ASSERT_EQ(row->number, key);
                    ASSERT_EQ(row->name, "n" + std::to_string(key));
                }
            }
        });
    }
    threads.clear();
    EXPECT_LE(shop.connections, 4 + 1);
}

}  // namespace
}  // namespace strid
