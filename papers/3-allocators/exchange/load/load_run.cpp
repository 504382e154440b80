// SPDX-License-Identifier: Apache-2.0
#include "load/load_run.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <sys/epoll.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

#include "fix/time_text.hpp"

namespace strid::exchange::load {

using fix::Message;
using fix::Tag;

namespace {

constexpr int connect_ms = 1000;
constexpr std::int64_t retry_ns = 100'000'000;
constexpr std::int64_t quiet_ns = 200'000'000;
constexpr std::int64_t settle_ns = 10'000'000'000;
constexpr std::int64_t logout_ns = 5'000'000'000;
constexpr std::size_t events_max = 256;

std::vector<std::string> names(const std::string& prefix, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < count; ++at) names.push_back(fmt::format("{}{:04}", prefix, at));
    return names;
}

}  // namespace

struct LoadRun::Client {
    Client(LoadRun& run, std::size_t its_number)
        : number(its_number),
          trader(run.options_.kind, run.options_.seed, its_number, run.market_),
          session(fmt::format("{}{:05}", run.options_.user_prefix, its_number),
                  run.options_.exchange,
                  [this, &run](const Message& message) { run.take(*this, message); }) {}

    std::size_t number;
    Trader trader;
    ClientSession session;
    std::size_t orders = 0;  // sent
    std::size_t outstanding = 0;
    std::int64_t retry_at_ns = 0;
    bool was_on = false;
    bool polled_for_room = false;
};

LoadRun::LoadRun(const LoadOptions& options)
    : options_(options),
      market_(options.symbols),
      symbols_(names(options.symbol_prefix, options.symbols)),
      account_(symbols_),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t at = 0; at < options.sessions; ++at) {
        clients_.push_back(std::make_unique<Client>(*this, at));
    }
    if (options.seconds > 0) due_ns_ = arrivals_ns(options.orders, options.seconds, options.seed);
}

LoadRun::~LoadRun() = default;

// Connections

void LoadRun::connect(Client& client) {
    const std::int64_t now = now_ns();
    if (now < client.retry_at_ns) return;
    client.retry_at_ns = now + retry_ns;
    try {
        client.session.begin(connect_to(options_.connect, connect_ms));
    } catch (const InputOutputError&) {
        // The exchange may be on its way up; check_progress() ends the patience.
        if (!client.was_on && sent_ == 0 && now > moved_ns_ + settle_ns) throw;
        return;
    }
    if (client.was_on) ++reconnects_;
    client.polled_for_room = false;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = client.number;
    if (::epoll_ctl(epoll_.descriptor(), EPOLL_CTL_ADD, client.session.descriptor(), &event) != 0) {
        throw InputOutputError("epoll: too many connections");
    }
    serve(client, false);
}

void LoadRun::lose(Client& client) {
    client.session.close();
    client.retry_at_ns = now_ns() + retry_ns;
}

void LoadRun::serve(Client& client, bool readable) {
    if (client.session.descriptor() < 0) return;
    if ((readable && !client.session.receive()) || !client.session.flush()) return lose(client);
    client.was_on = client.was_on || client.session.state() == ClientSession::State::on;
    const bool needs_room = client.session.waits_for_room();
    if (needs_room == client.polled_for_room) return;
    client.polled_for_room = needs_room;
    epoll_event event{};
    event.events = needs_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.u64 = client.number;
    (void)::epoll_ctl(epoll_.descriptor(), EPOLL_CTL_MOD, client.session.descriptor(), &event);
}

void LoadRun::poll_clients(int timeout_ms) {
    std::array<epoll_event, events_max> events;
    const int count = ::epoll_wait(epoll_.descriptor(), events.data(),
                                   static_cast<int>(events.size()), timeout_ms);
    for (int at = 0; at < count; ++at) {
        const epoll_event& event = events[static_cast<std::size_t>(at)];
        serve(*clients_[event.data.u64], (event.events & ~static_cast<unsigned>(EPOLLOUT)) != 0);
    }
    if (count > 0) return;
    for (const auto& client : clients_) {
        if (client->session.state() == ClientSession::State::closed) connect(*client);
    }
}

// Requests

void LoadRun::send_one(Client& client, std::int64_t due_ns) {
    Request request = client.trader.next();
    const std::string id = fmt::format("{}-{}-{}", options_.run, client.number, ++client.orders);
    Message message(std::string_view(&request.type, 1));
    message.set(Tag::cl_ord_id, id);
    if (!request.original.empty()) message.set(Tag::orig_cl_ord_id, request.original);
    message.set(Tag::symbol, symbols_[request.symbol]);
    message.set(Tag::side, std::string_view(&request.side, 1));
    message.set(Tag::order_qty, request.quantity);
    if (request.type != 'F') {
        message.set(Tag::ord_type, request.price_cents == 0 ? "1" : "2");
        if (request.price_cents != 0) {
            message.set(Tag::price, fmt::format("{}.{:02}", request.price_cents / 100,
                                                request.price_cents % 100));
        }
    }
    message.set(Tag::transact_time, fix::utc_timestamp());
    account_.sent(id, {std::move(request), due_ns, client.number});
    client.session.send(std::move(message));
    ++client.outstanding;
    ++sent_;
}

void LoadRun::send_due() {
    const std::int64_t now = now_ns();
    if (!due_ns_.empty()) {
        while (sent_ < options_.orders && begin_ns_ + due_ns_[sent_] <= now) {
            Client& client = *clients_[sent_ % clients_.size()];
            send_one(client, begin_ns_ + due_ns_[sent_]);
            serve(client, false);
        }
        return;
    }
    for (const auto& client : clients_) {
        // Each session has its share, so that the requests of a session are those of its seed.
        const std::size_t share = options_.orders / clients_.size() +
                                  (client->number < options_.orders % clients_.size() ? 1 : 0);
        if (client->session.state() != ClientSession::State::on) continue;
        const std::size_t before = client->orders;
        while (client->outstanding < options_.window && client->orders < share) {
            send_one(*client, now_ns());
        }
        if (client->orders != before) serve(*client, false);
    }
}

void LoadRun::take(Client& client, const Message& message) {
    moved_ns_ = now_ns();
    if (!message.is("8") && !message.is("9")) {
        throw InputOutputError(fmt::format("{}: the exchange answers {}: {}", client.session.user(),
                                           message.type(), message.get_or(Tag::text, "")));
    }
    if (const Account::Order* order = account_.take(message, moved_ns_)) {
        answered_ns_ = moved_ns_;
        --clients_[order->session]->outstanding;
    }
    note_order(client, message);
}

void LoadRun::note_order(Client& client, const Message& message) {
    if (!message.is("8")) return;
    const std::string& id = message.get(Tag::cl_ord_id);
    const std::string_view type = message.get_or(Tag::exec_type, "");
    if (type == "F") {
        const std::string& symbol = message.get(Tag::symbol);
        const auto found = std::lower_bound(symbols_.begin(), symbols_.end(), symbol);
        if (found != symbols_.end() && *found == symbol) {
            market_.traded(static_cast<std::size_t>(found - symbols_.begin()),
                           read_price(message, Tag::last_px) / 100);
        }
    }
    const bool is_open = message.integer_or(Tag::leaves_qty, 0) > 0;
    if (is_open && (type == "0" || type == "5")) {
        if (const Request* request = account_.request(id)) client.trader.opened(id, *request);
    } else if (!is_open) {
        client.trader.closed(id);
    }
}

// The run

void LoadRun::check_progress(const std::atomic<bool>& interrupted) {
    if (interrupted.load(std::memory_order_relaxed)) throw Interrupted();
    if (now_ns() <= moved_ns_ + options_.timeout_ns) return;
    throw InputOutputError(fmt::format(
        "{}: nothing came for {} s; {} of {} requests are answered", options_.connect.to_text(),
        options_.timeout_ns / 1'000'000'000, account_.answered(), options_.orders));
}

LoadFigures LoadRun::run(const std::atomic<bool>& interrupted) {
    moved_ns_ = now_ns();
    const auto all_on = [this] {
        return std::all_of(clients_.begin(), clients_.end(),
                           [](const auto& client) { return client->was_on; });
    };
    for (const auto& client : clients_) connect(*client);
    while (!all_on()) {
        check_progress(interrupted);
        poll_clients(10);
    }
    begin_ns_ = moved_ns_ = now_ns();
    while (account_.answered() < options_.orders) {
        check_progress(interrupted);
        send_due();
        poll_clients(due_ns_.empty() ? 10 : 1);
    }
    settle(interrupted);
    log_out();
    LoadFigures figures;
    figures.requests = account_.requests();
    figures.trades = account_.trades();
    figures.rejects = account_.rejects();
    figures.reconnects = reconnects_;
    figures.seconds = static_cast<double>(answered_ns_ - begin_ns_) / 1e9;
    figures.response_ns = account_.response_ns();
    figures.faults = account_.faults();
    return figures;
}

/// The last trades of others' orders may still be on their way, and what should not come, too.
void LoadRun::settle(const std::atomic<bool>& interrupted) {
    const std::int64_t end = now_ns() + settle_ns;
    while (now_ns() < end) {
        if (account_.is_balanced() && now_ns() > moved_ns_ + quiet_ns) return;
        if (interrupted.load(std::memory_order_relaxed)) throw Interrupted();
        poll_clients(10);
    }
}

void LoadRun::log_out() {
    for (const auto& client : clients_) {
        if (client->session.state() != ClientSession::State::on) continue;
        client->session.log_out();
        serve(*client, false);
    }
    const std::int64_t end = now_ns() + logout_ns;
    const auto is_open = [](const auto& client) { return client->session.descriptor() >= 0; };
    while (now_ns() < end && std::any_of(clients_.begin(), clients_.end(), is_open)) {
        poll_clients(10);
    }
}

}  // namespace strid::exchange::load
