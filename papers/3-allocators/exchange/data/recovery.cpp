// SPDX-License-Identifier: Apache-2.0
#include "data/recovery.hpp"

#include <limits>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "data/schema.hpp"

namespace strid::exchange {

namespace {

class Reader {
  public:
    explicit Reader(Database& database) : database_(database) {}

    Recovered read() {
        read_state();
        read_order_rows();
        read_retired(database_, [this](const std::string& symbol, const RetiredId& retired) {
            recovered_.sum += digest_of(symbol, retired);
            recovered_.tasks.push_back({symbol, retired});
        });
        read_trade_rows();
        read_position_rows();
        read_subscription_rows();
        read_report_rows();
        if (recovered_.sum + digest_of(recovered_.state) != digest_) {
            fail("its rows are not those of one moment");
        }
        check_sums();
        return std::move(recovered_);
    }

  private:
    struct Traded {
        Quantity quantity = 0;
        std::int64_t paid = 0;
    };

    [[noreturn]] void fail(const std::string& what) const {
        throw InputOutputError(database_.name() + ": the journal is damaged: " + what);
    }

    void read_state() {
        unsigned rows = 0;
        database_.query("SELECT version, command, report, acknowledged, trades, digest FROM state",
                        [&](const Row& row) {
                            ++rows;
                            if (row.integer(0) != schema_version) {
                                throw InputOutputError(fmt::format(
                                    "{}: a journal of version {}; this program has version {}",
                                    database_.name(), row.integer(0), schema_version));
                            }
                            const auto number = [&row](int column) {
                                return static_cast<std::uint64_t>(row.integer(column));
                            };
                            recovered_.state = {number(1), number(2), number(3), number(4)};
                            digest_ = number(5);
                        });
        if (rows == 0) digest_ = digest_of(JournalState{});  // before the first transaction
    }

    void read_order_rows() {
        read_orders(database_, [this](const std::string& symbol, const Order& order) {
            const std::uint64_t digest = digest_of(symbol, order);
            recovered_.sum += digest;
            if (!is_done(order.status)) recovered_.order_digests[order.id] = digest;
            traded_[order.id] = {order.filled, order.paid};
            recovered_.tasks.push_back({symbol, order});
        });
    }

    void read_trade_rows() {
        std::uint64_t last = 0;
        read_trades(database_, [&](const TradeRow& row) {
            if (row.id != ++last) fail(fmt::format("trade {} is missing", last));
            recovered_.sum += digest_of(row);
            traded_by_rows_.add(row.symbol, row.trade);
            for (const OrderId id : {row.trade.buy_order, row.trade.sell_order}) {
                traded_[id].quantity -= row.trade.quantity;
                traded_[id].paid -= row.trade.price * row.trade.quantity;
            }
        });
        if (last != recovered_.state.trades) fail("trades are missing at the end");
        for (const auto& [id, rest] : traded_) {
            if (rest.quantity != 0 || rest.paid != 0) {
                fail(fmt::format("order {} has not traded what its trades say", id));
            }
        }
    }

    void read_position_rows() {
        read_positions(database_, [this](const Holdings::Key& key, const Position& position) {
            recovered_.sum += digest_of(key, position);
            recovered_.holdings.at(key.first, key.second) = position;
        });
        if (recovered_.holdings.positions() != traded_by_rows_.positions()) {
            fail("the positions are not those of the trades");
        }
    }

    void read_subscription_rows() {
        read_subscriptions(database_, [this](const std::string& symbol, const Subscription& one) {
            const std::uint64_t digest = digest_of(symbol, one);
            recovered_.sum += digest;
            recovered_.subscription_digests[{one.user, symbol}] = digest;
            recovered_.tasks.push_back({symbol, one});
        });
    }

    void read_report_rows() {
        std::uint64_t last = recovered_.state.acknowledged;
        constexpr auto all = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        read_reports(database_, 0, all, [&](std::uint64_t id, std::string_view message) {
            if (id != ++last) fail(fmt::format("report {} is missing", last));
            const std::uint64_t digest = digest_of_report(id, message);
            recovered_.sum += digest;
            recovered_.report_digests.push_back(digest);
        });
        if (last != recovered_.state.report) fail("reports are missing at the end");
    }

    void check_sums() const {
        for (const auto& [symbol, sum] : recovered_.holdings.sums()) {
            if (sum != Position{}) fail("the positions in " + symbol + " do not add up to 0");
        }
    }

    Database& database_;
    Recovered recovered_;
    std::uint64_t digest_ = 0;
    std::unordered_map<OrderId, Traded> traded_;
    Holdings traded_by_rows_;
};

}  // namespace

Recovered recover(Database& database, Opening opening) {
    if (database.is_empty()) {
        if (opening == Opening::read) throw InputOutputError(database.name() + ": no journal");
        create_tables(database);
    }
    try {
        database.begin_reading();
        Recovered recovered = Reader(database).read();
        database.end_reading();
        return recovered;
    } catch (const InputOutputError& error) {
        const std::string_view message = error.what();
        if (message.starts_with(database.name())) throw;
        throw InputOutputError(database.name() + ": the journal is damaged: " + error.what());
    }
}

}  // namespace strid::exchange
