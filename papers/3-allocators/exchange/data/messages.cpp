// SPDX-License-Identifier: Apache-2.0
#include "data/messages.hpp"

#include <string_view>

#include <fmt/format.h>

#include "data/instructions.hpp"

namespace strid::exchange {

namespace {

using fix::Message;
using fix::Tag;

// Tags that only the data manager uses.
constexpr int cxl_rej_reason = 102;
constexpr int market_depth = 264;
constexpr int no_md_entries = 268;
constexpr int md_entry_type = 269;
constexpr int md_entry_px = 270;
constexpr int md_entry_size = 271;
constexpr int md_update_action = 279;
constexpr int md_req_rej_reason = 281;
constexpr int cxl_rej_response_to = 434;

constexpr std::string_view no_order = "NONE";

CommandKind kind_of(const std::string& type) noexcept {
    if (type.size() != 1) return CommandKind::other;
    switch (type[0]) {
        case 'D':
        case 'F':
        case 'G':
        case 'V':
            return static_cast<CommandKind>(type[0]);
        default:
            return CommandKind::other;
    }
}

/// Writes the reports of one command.
class Writer {
  public:
    explicit Writer(const Command& command) : command_(command) {}

    Message message_of(const Report& report) {
        user_ = &report.user;
        return std::visit([this](const auto& content) { return written(content); }, report.content);
    }

  private:
    Message begin(std::string_view type) {
        Message message{type};
        message.set(Tag::sender_comp_id, "DATA");
        message.set(Tag::target_comp_id, *user_);
        return message;
    }
    template <class Enumerator>
    static void set_char(Message& message, int tag, Enumerator value) {
        const char text = static_cast<char>(value);
        message.set(tag, std::string_view(&text, 1));
    }
    /// The value that a user sent, if there was one; cut, so that the report is not longer than a
    /// message may be.
    static void set_given(Message& message, int tag, std::string_view value) {
        constexpr std::size_t bytes_max = 64;
        if (!value.empty()) message.set(tag, value.substr(0, bytes_max));
    }
    static void set_number(Message& message, int tag, std::uint64_t number) {
        message.set(tag, static_cast<std::int64_t>(number));
    }
    std::string next_execution() { return fmt::format("{}-{}", command_.number, ++executions_); }

    Message written(const ExecutionReport& report) {
        const Order& order = report.order;
        Message message = begin("8");
        set_number(message, Tag::order_id, order.id);
        message.set(Tag::cl_ord_id, order.client_id);
        set_given(message, Tag::orig_cl_ord_id, report.original_id);
        message.set(Tag::exec_id, next_execution());
        set_char(message, Tag::exec_type, report.type);
        set_char(message, Tag::ord_status, order.status);
        message.set(Tag::symbol, command_.symbol);
        set_char(message, Tag::side, order.side);
        message.set(Tag::order_qty, order.quantity);
        if (!order.is_market) message.set(Tag::price, price_text(order.price));
        if (report.type == ExecutionType::trade) {
            message.set(Tag::last_qty, report.last_quantity);
            message.set(Tag::last_px, price_text(report.last_price));
        }
        message.set(Tag::leaves_qty, order.open_quantity());
        message.set(Tag::cum_qty, order.filled);
        message.set(Tag::avg_px, average_text(order.paid, order.filled));
        set_given(message, Tag::text, report.text);
        return message;
    }

    Message written(const OrderRejected& rejection) {
        Message message = begin("8");
        message.set(Tag::order_id, no_order);
        set_given(message, Tag::cl_ord_id, command_.client_id);
        message.set(Tag::exec_id, next_execution());
        set_char(message, Tag::exec_type, ExecutionType::rejected);
        set_char(message, Tag::ord_status, OrderStatus::rejected);
        set_given(message, Tag::symbol, command_.symbol);
        set_given(message, Tag::side, command_.side);
        set_given(message, Tag::order_qty, command_.quantity);
        set_given(message, Tag::price, command_.price);
        for (const int tag : {int{Tag::leaves_qty}, int{Tag::cum_qty}, int{Tag::avg_px}}) {
            set_number(message, tag, 0);
        }
        set_number(message, Tag::ord_rej_reason, static_cast<std::uint64_t>(rejection.reason));
        message.set(Tag::text, rejection.text);
        return message;
    }

    Message written(const CancelRejected& rejection) {
        Message message = begin("9");
        message.set(Tag::order_id,
                    rejection.order == 0 ? std::string(no_order) : std::to_string(rejection.order));
        set_given(message, Tag::cl_ord_id, command_.client_id);
        set_given(message, Tag::orig_cl_ord_id, command_.original_id);
        set_char(message, Tag::ord_status, rejection.status);
        message.set(cxl_rej_response_to, command_.kind == CommandKind::cancel ? "1" : "2");
        set_number(message, cxl_rej_reason, static_cast<std::uint64_t>(rejection.reason));
        message.set(Tag::text, rejection.text);
        return message;
    }

    static void add_entry(Message& message, Side side, const LevelView& level, bool has_size) {
        message.add(md_entry_type, side == Side::buy ? "0" : "1");
        message.add(md_entry_px, price_text(level.price));
        if (has_size) message.add(md_entry_size, level.quantity);
    }

    Message written(const Snapshot& snapshot) {
        Message message = begin("W");
        message.set(Tag::md_req_id, snapshot.request_id);
        message.set(Tag::symbol, command_.symbol);
        set_number(message, no_md_entries, snapshot.bids.size() + snapshot.offers.size());
        for (const LevelView& level : snapshot.bids) add_entry(message, Side::buy, level, true);
        for (const LevelView& level : snapshot.offers) add_entry(message, Side::sell, level, true);
        return message;
    }

    Message written(const BookChange& update) {
        Message message = begin("X");
        message.set(Tag::md_req_id, update.request_id);
        set_number(message, no_md_entries, update.changes.size());
        for (const LevelChange& change : update.changes) {
            const char action = static_cast<char>(change.action);
            message.add(md_update_action, std::string_view(&action, 1));
            message.add(Tag::symbol, command_.symbol);
            add_entry(message, change.side, change.level, change.action != LevelAction::removed);
        }
        return message;
    }

    Message written(const MarketDataRejected& rejection) {
        Message message = begin("Y");
        // The field is required: a request without an identifier is answered with "NONE".
        set_given(message, Tag::md_req_id,
                  command_.request_id.empty() ? no_order : std::string_view(command_.request_id));
        set_char(message, md_req_rej_reason, rejection.reason);
        message.set(Tag::text, rejection.text);
        return message;
    }

    Message written(const NotSupported& /*request*/) {
        constexpr std::uint64_t unsupported_message_type = 3;
        Message message = begin("j");
        set_given(message, Tag::ref_seq_num, command_.client_sequence);
        set_given(message, Tag::ref_msg_type, command_.type);
        set_number(message, Tag::business_reject_reason, unsupported_message_type);
        message.set(Tag::text, "messages of this type are not taken");
        return message;
    }

    const Command& command_;
    const std::string* user_ = nullptr;
    unsigned executions_ = 0;
};

}  // namespace

Command read_command(const Message& message) {
    const std::int64_t number = message.integer(Tag::msg_seq_num);
    if (number <= 0) {
        throw fix::FieldError(Tag::msg_seq_num, fix::Reason::value_out_of_range,
                              "the number of a command (34) is not above 0");
    }
    const auto text = [&message](int tag) { return std::string(message.get_or(tag, {})); };
    Command command{.kind = kind_of(message.type()),
                    .number = static_cast<CommandNumber>(number),
                    .user = message.get(Tag::sender_comp_id),
                    .symbol = text(Tag::symbol),
                    .client_id = text(Tag::cl_ord_id),
                    .original_id = text(Tag::orig_cl_ord_id),
                    .side = text(Tag::side),
                    .quantity = text(Tag::order_qty),
                    .order_type = text(Tag::ord_type),
                    .price = text(Tag::price),
                    .time_in_force = text(Tag::time_in_force),
                    .request_id = text(Tag::md_req_id),
                    .subscription = text(Tag::subscription_request_type),
                    .depth = text(market_depth)};
    if (command.kind == CommandKind::market_data) {
        MarketDataFault fault = fault_of_market_data(message);
        command.unsupported = std::move(fault.text);
        command.unsupported_reason = fault.reason;
    } else if (command.kind != CommandKind::other) {
        command.unsupported = fault_of_instructions(message);
    } else {
        command.type = message.type();
        command.client_sequence = text(Tag::ref_seq_num);
    }
    return command;
}

std::vector<Message> report_messages(const Command& command, const Outcome& outcome) {
    Writer writer(command);
    std::vector<Message> messages;
    messages.reserve(outcome.reports.size());
    for (const Report& report : outcome.reports) messages.push_back(writer.message_of(report));
    return messages;
}

}  // namespace strid::exchange
