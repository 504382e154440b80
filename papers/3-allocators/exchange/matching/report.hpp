// SPDX-License-Identifier: Apache-2.0
//
// The answer of the exchange, with all changes by one command. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "order.hpp"

namespace strid::exchange {

/// ExecType (150).
enum class ExecutionType : char {
    accepted = '0',
    cancelled = '4',
    replaced = '5',
    rejected = '8',
    trade = 'F'
};

/// OrdRejReason (103).
enum class RejectReason : std::uint8_t {
    unknown_symbol = 1,
    duplicate = 6,
    unsupported = 11,
    quantity = 13,
    other = 99
};

/// CxlRejReason (102).
enum class CancelRejectReason : std::uint8_t {
    too_late = 0,
    unknown_order = 1,
    duplicate = 6,
    other = 99
};

/// An order was accepted, has traded, was cancelled or replaced: ExecutionReport (8).
struct ExecutionReport {
    ExecutionType type = ExecutionType::accepted;
    Order order = {};  ///< as it is after the event
    std::string original_id = {};
    Quantity last_quantity = 0;
    Price last_price = 0;
    std::string text = {};
};

/// A new order was refused: ExecutionReport (8) with the fields as they came.
struct OrderRejected {
    RejectReason reason = RejectReason::other;
    std::string text = {};
};

/// A cancel or a replace was refused: OrderCancelReject (9).
struct CancelRejected {
    OrderId order = 0;  ///< 0: none is known
    OrderStatus status = OrderStatus::rejected;
    CancelRejectReason reason = CancelRejectReason::other;
    std::string text = {};
};

/// Shares that are wanted or offered at a price.
struct LevelView {
    Price price = 0;
    Quantity quantity = 0;
    bool operator==(const LevelView&) const = default;
};

/// MDUpdateAction (279).
enum class LevelAction : char { added = '0', changed = '1', removed = '2' };

struct LevelChange {
    LevelAction action = LevelAction::added;
    Side side = Side::buy;
    LevelView level = {};  ///< of one that is gone the quantity is 0
};

/// MarketDataSnapshotFullRefresh (W).
struct Snapshot {
    std::string request_id = {};
    std::vector<LevelView> bids = {};  ///< best first
    std::vector<LevelView> offers = {};
};

/// MarketDataIncrementalRefresh (X).
struct BookChange {
    std::string request_id = {};
    std::vector<LevelChange> changes = {};
};

/// MarketDataRequestReject (Y).
struct MarketDataRejected {
    char reason = '0';  ///< MDReqRejReason (281)
    std::string text = {};
};

/// BusinessMessageReject (j): of a type that the exchange does not take.
struct NotSupported {};

struct Report {
    std::string user = {};
    std::variant<ExecutionReport, OrderRejected, CancelRejected, Snapshot, BookChange,
                 MarketDataRejected, NotSupported>
        content;
};

/// All that one command changed. A command changes one book.
struct Outcome {
    std::vector<Report> reports = {};
    std::vector<Trade> trades = {};
    std::vector<Order> orders = {};             ///< those that changed, as they are now; each once
    std::vector<std::string> retired_ids = {};  ///< of the command's user: they stay used
    std::vector<Subscription> subscriptions = {};
};

}  // namespace strid::exchange
