// SPDX-License-Identifier: Apache-2.0
#include "session/logon_gate.hpp"

#include <algorithm>
#include <utility>

namespace strid::exchange {

using fix::Tag;
using namespace std::chrono_literals;

namespace {

constexpr int username = 553;
constexpr int password = 554;
constexpr auto refused_after = 1s;
/// Logons that wait for their check, or to be refused.
constexpr std::size_t logons_max = 4096;
/// Behind a Logon.
constexpr std::size_t events_max = 64;

}  // namespace

LogonGate::LogonGate(std::unique_ptr<Passwords> passwords, Push push, const Log& log)
    : passwords_(std::move(passwords)), push_(std::move(push)), log_(log) {
    if (passwords_ != nullptr) thread_ = std::thread([this] { run(); });
}

LogonGate::~LogonGate() {
    stop();
}

void LogonGate::stop() {
    {
        const std::lock_guard lock{mutex_};
        ended_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

bool LogonGate::take(Event event) {
    if (passwords_ == nullptr) return push_(std::move(event));
    const std::lock_guard lock{mutex_};
    if (ended_) return false;
    const ConnectionId connection = event.connection;
    if (const auto found = waiting_.find(connection); found != waiting_.end()) {
        return wait_behind(found->second, std::move(event));
    }
    if (event.kind != Event::Kind::message) {
        if (event.kind == Event::Kind::closed) admitted_.erase(connection);
        return push_(std::move(event));
    }
    // Another message is refused by its session, which no connection has logged on to.
    if (admitted_.contains(connection) || !event.message->is("A")) return push_(std::move(event));
    if (waiting_.size() >= logons_max) return refuse(std::move(event), "too many Logons wait");
    Waiting& waiting = waiting_[connection];
    waiting.came = Clock::now();
    waiting.events.push_back(std::move(event));
    to_check_.push_back(connection);
    changed_.notify_one();
    return true;
}

bool LogonGate::wait_behind(Waiting& waiting, Event event) {
    if (event.kind == Event::Kind::closed) {
        // Its session has not seen it.
        waiting.is_closed = true;
        waiting.events.clear();
    } else if (!waiting.is_closed && waiting.events.size() < events_max) {
        waiting.events.push_back(std::move(event));
    }
    // A message beyond the bound is missing in the sequence then, and asked for.
    return true;
}

bool LogonGate::refuse(Event event, std::string why) {
    event.fault = std::make_shared<const fix::FieldFault>(
        fix::FieldFault{password, fix::Reason::other, std::move(why)});
    return push_(std::move(event));
}

std::string LogonGate::check(const Event& event) {
    if (const std::string fault = passwords_->update(); !fault.empty()) {
        log_.say(fault + ": the passwords stay as they were");
    }
    const std::string user = event.user;
    // One text for all: it says nothing about which users there are.
    const std::string wrong = "Username or Password is wrong";
    if (event.fault) return event.fault->text;
    if (event.message->get_or(username, user) != user) return wrong;
    const std::string given(event.message->get_or(password, ""));
    if (given.empty()) return "Password (554) is missing";
    return passwords_->is_right(user, given) ? std::string() : wrong;
}

void LogonGate::run() {
    std::unique_lock lock{mutex_};
    while (!ended_) {
        refuse_those_due();
        if (to_check_.empty()) {
            const auto is_there = [this] { return ended_ || !to_check_.empty(); };
            if (refused_.empty()) {
                changed_.wait(lock, is_there);
            } else {
                changed_.wait_until(lock, refused_.front().due, is_there);
            }
            continue;
        }
        const ConnectionId connection = to_check_.front();
        to_check_.pop_front();
        const auto found = waiting_.find(connection);
        if (found->second.is_closed) {
            waiting_.erase(found);
            continue;
        }
        const Event logon = found->second.events.front();
        lock.unlock();
        const std::string fault = check(logon);
        lock.lock();
        finish(connection, fault);
    }
}

void LogonGate::finish(ConnectionId connection, const std::string& fault) {
    const auto found = waiting_.find(connection);
    Waiting& waiting = found->second;
    if (!fault.empty() && !waiting.is_closed) {
        refused_.push_back(
            {connection, std::max(waiting.came + refused_after, Clock::now()), fault});
        std::sort(refused_.begin(), refused_.end(),
                  [](const Refused& one, const Refused& other) { return one.due < other.due; });
        return;
    }
    if (!waiting.is_closed) admitted_.insert(connection);
    for (Event& event : waiting.events) (void)push_(std::move(event));
    waiting_.erase(found);
}

void LogonGate::refuse_those_due() {
    const auto now = Clock::now();
    while (!refused_.empty() && refused_.front().due <= now) {
        const Refused refused = std::move(refused_.front());
        refused_.pop_front();
        const auto found = waiting_.find(refused.connection);
        if (!found->second.is_closed) {
            (void)refuse(std::move(found->second.events.front()), refused.fault);
        }
        waiting_.erase(found);
    }
}

}  // namespace strid::exchange
