// SPDX-License-Identifier: Apache-2.0
#include "load/account.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strid::exchange::load {

using fix::Message;
using fix::Tag;

namespace {

constexpr std::size_t faults_max = 20;

/// Whether a report with this ExecType answers a request of this type.
bool is_answer(const Message& report, char request) {
    if (report.is("9")) return request == 'F' || request == 'G';
    const std::string_view type = report.get_or(Tag::exec_type, "");
    switch (request) {
        case 'D':
            return type == "0" || type == "8";
        case 'F':
            return type == "4";
        case 'G':
            return type == "5";
        default:
            return false;
    }
}

}  // namespace

std::int64_t read_price(const Message& message, int tag) {
    const std::string& text = message.get(tag);
    std::int64_t units = 0;
    int places = -1;
    for (const char c : text) {
        if (c == '.' && places < 0) {
            places = 0;
        } else if (c >= '0' && c <= '9' && places < 4) {
            units = units * 10 + (c - '0');
            if (places >= 0) ++places;
        } else {
            throw fix::FieldError(tag, fix::Reason::incorrect_format,
                                  fmt::format("tag {} is no price: '{}'", tag, text));
        }
    }
    for (places = std::max(places, 0); places < 4; ++places) units *= 10;
    return units;
}

Account::Account(std::vector<std::string> symbols)
    : symbols_(std::move(symbols)), sums_(symbols_.size()) {}

void Account::sent(const std::string& cl_ord_id, Order order) {
    orders_.emplace(cl_ord_id, std::move(order));
}

const Request* Account::request(const std::string& cl_ord_id) const {
    const auto found = orders_.find(cl_ord_id);
    return found != orders_.end() ? &found->second.request : nullptr;
}

void Account::fault(std::string text) {
    if (faults_.size() < faults_max) faults_.push_back(std::move(text));
}

const Account::Order* Account::take(const Message& report, std::int64_t now_ns) {
    const std::string& id = report.get(Tag::cl_ord_id);
    const auto found = orders_.find(id);
    if (found == orders_.end()) {
        fault(fmt::format("a report of '{}', which was not asked for", id));
        return nullptr;
    }
    Order& order = found->second;
    if (report.is("8") && !execution_ids_.insert(report.get(Tag::exec_id)).second) {
        fault(fmt::format("report {} came twice", report.get(Tag::exec_id)));
    }
    if (report.is("8") && report.get_or(Tag::exec_type, "") == "F") trade(report, order);
    if (!is_answer(report, order.request.type)) return nullptr;
    if (report.is("9") || report.get_or(Tag::exec_type, "") == "8") ++rejects_;
    if (++order.answers != 1) {
        fault(fmt::format("'{}' was answered {} times", id, order.answers));
        return nullptr;
    }
    response_ns_.push_back(now_ns - order.due_ns);
    return &order;
}

void Account::trade(const Message& report, Order& order) {
    const std::int64_t quantity = report.integer(Tag::last_qty);
    const std::int64_t price = read_price(report, Tag::last_px);
    order.traded += quantity;
    ++trades_;
    Sums& sums = sums_[order.request.symbol];
    if (report.get(Tag::symbol) != symbols_[order.request.symbol] ||
        report.get(Tag::side)[0] != order.request.side) {
        fault(
            fmt::format("a trade of '{}' has another symbol or side", report.get(Tag::cl_ord_id)));
    }
    if (order.request.side == '1') {
        sums.bought += quantity;
        sums.paid += static_cast<__int128>(quantity) * price;
    } else {
        sums.sold += quantity;
        sums.received += static_cast<__int128>(quantity) * price;
    }
    // An order keeps its OrderID when it is replaced, and its trades add up.
    std::int64_t& cumulated = cumulated_[report.get(Tag::order_id)];
    cumulated += quantity;
    if (cumulated != report.integer(Tag::cum_qty)) {
        fault(fmt::format("the trades of order {} add up to {}, but CumQty is {}",
                          report.get(Tag::order_id), cumulated, report.get(Tag::cum_qty)));
    }
    if (cumulated + report.integer(Tag::leaves_qty) > order.request.quantity) {
        fault(fmt::format("order {} has more than it asked for", report.get(Tag::order_id)));
    }
}

const std::vector<std::int64_t>& Account::response_ns() {
    std::sort(response_ns_.begin(), response_ns_.end());
    return response_ns_;
}

bool Account::is_balanced() const noexcept {
    return std::all_of(sums_.begin(), sums_.end(), [](const Sums& sums) {
        return sums.bought == sums.sold && sums.paid == sums.received;
    });
}

std::vector<std::string> Account::faults() const {
    std::vector<std::string> faults = faults_;
    std::size_t unanswered = 0;
    for (const auto& [id, order] : orders_) unanswered += order.answers == 0;
    if (unanswered != 0) faults.push_back(fmt::format("{} requests have no answer", unanswered));
    for (std::size_t at = 0; at < sums_.size(); ++at) {
        const Sums& sums = sums_[at];
        if (sums.bought == sums.sold && sums.paid == sums.received) continue;
        faults.push_back(fmt::format("of {} {} were bought and {} sold (others trade it?)",
                                     symbols_[at], sums.bought, sums.sold));
    }
    return faults;
}

}  // namespace strid::exchange::load
