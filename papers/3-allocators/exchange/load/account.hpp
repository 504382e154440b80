// SPDX-License-Identifier: Apache-2.0
//
// The requests, the answers, and whether both agree: each request has one answer, no report comes
// twice, the trades of an order add up to what it says, and all trades together have a buyer and a
// seller of the same quantity for the same money. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fix/message.hpp"
#include "load/workload.hpp"

namespace strid::exchange::load {

class Account {
  public:
    struct Order {
        Request request;
        std::int64_t due_ns = 0;  ///< when it was sent, or should have been
        std::size_t session = 0;
        int answers = 0;
        std::int64_t traded = 0;  ///< in reports that name this ClOrdID
    };

    explicit Account(std::vector<std::string> symbols);

    void sent(const std::string& cl_ord_id, Order order);
    /// Takes an ExecutionReport or OrderCancelReject; returns the request that it is the first
    /// answer of, or null.
    const Order* take(const fix::Message& report, std::int64_t now_ns);

    /// Null where it was not sent.
    [[nodiscard]] const Request* request(const std::string& cl_ord_id) const;
    [[nodiscard]] std::size_t requests() const noexcept { return orders_.size(); }
    [[nodiscard]] std::size_t answered() const noexcept { return response_ns_.size(); }
    [[nodiscard]] std::uint64_t trades() const noexcept { return trades_; }
    [[nodiscard]] std::uint64_t rejects() const noexcept { return rejects_; }
    /// Sorted by this call.
    [[nodiscard]] const std::vector<std::int64_t>& response_ns();
    /// Bought and sold agree for now.
    [[nodiscard]] bool is_balanced() const noexcept;
    /// The rules that do not hold, a line each; empty if all do.
    [[nodiscard]] std::vector<std::string> faults() const;

  private:
    struct Sums {
        std::int64_t bought = 0, sold = 0;
        __int128 paid = 0, received = 0;  // in 1/10,000
    };
    void trade(const fix::Message& report, Order& order);
    void fault(std::string text);

    std::vector<std::string> symbols_;
    std::unordered_map<std::string, Order> orders_;
    std::unordered_set<std::string> execution_ids_;
    std::unordered_map<std::string, std::int64_t> cumulated_;  // by OrderID
    std::vector<Sums> sums_;
    std::vector<std::int64_t> response_ns_;
    std::vector<std::string> faults_;
    std::uint64_t trades_ = 0;
    std::uint64_t rejects_ = 0;
};

/// A price in 1/10,000; FieldError where it is none.
[[nodiscard]] std::int64_t read_price(const fix::Message& message, int tag);

}  // namespace strid::exchange::load
