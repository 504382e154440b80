// SPDX-License-Identifier: Apache-2.0
//
// The subscriptions of market data of a session: they end with it, also where the data manager
// still has one of a session manager that was killed.
#include <utility>

#include <fmt/format.h>

#include "session/session.hpp"

namespace strid::exchange {

using fix::Message;
using fix::Tag;

void Session::note_market_data(const Message& message) {
    const std::string& id = message.get(Tag::md_req_id);
    if (message.get(Tag::subscription_request_type) == "2") {
        market_data_.erase(id);
    } else {
        if (market_data_.size() >= rules_->market_data_max && !market_data_.contains(id)) {
            throw fix::FieldError(Tag::md_req_id, fix::Reason::value_out_of_range,
                                  fmt::format("{} requests are on", market_data_.size()));
        }
        // Of the request what its end needs: a client's message may be large.
        Message noted("V");
        for (const int tag :
             {int{Tag::md_req_id}, int{Tag::subscription_request_type}, int{Tag::symbol}}) {
            if (const std::string* value = message.find(tag)) noted.set(tag, *value);
        }
        market_data_.insert_or_assign(id, std::move(noted));
    }
}

void Session::end_market_data(Actions& actions) {
    for (const auto& [id, request] : market_data_) {
        if (request.get(Tag::subscription_request_type) != "1") continue;
        Message end = request;
        command(end.set(Tag::subscription_request_type, "2"), actions);
    }
    market_data_.clear();
}

bool Session::takes_market_data(const Message& report, Actions& actions) {
    const std::string* id = report.find(Tag::md_req_id);
    const auto found = id != nullptr ? market_data_.find(*id) : market_data_.end();
    if (found != market_data_.end()) {
        const bool is_on = found->second.get(Tag::subscription_request_type) == "1";
        if (!is_on || report.is("Y")) market_data_.erase(found);
        return connection_ != 0;
    }
    // A subscription that this side does not know any more: of a session manager before this one.
    if (id != nullptr && !report.is("Y")) {
        Message end("V");
        end.set(Tag::md_req_id, *id).set(Tag::subscription_request_type, "2");
        if (const std::string* symbol = report.find(Tag::symbol)) end.set(Tag::symbol, *symbol);
        command(end, actions);
    }
    return false;
}

}  // namespace strid::exchange
