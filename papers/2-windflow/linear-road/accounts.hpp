// SPDX-License-Identifier: Apache-2.0
//
// The operator behind `key_by(car)`: accounts, what is charged to them, and questions for their
// balance (README.md, rule 11). Charges and questions come by different replicas, so both wait for
// the watermark: a question of second t is answered when the watermark is t, which asserts that
// all charges of earlier seconds have come; charges of second t count when it is t + 1.
//
// State: an account for each car that was ever charged, for the run; what waits is bounded by the
// time that one way is ahead of the other, which the bounds of the links limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/state/codec.hpp>

#include "records.hpp"

namespace strid::apps::linear_road {

class Accounts : public OperatorTypes<message::Hashed<Notice>, Notice> {
  public:
    static constexpr OperatorTraits traits{.kind = "accounts",
                                           .emits = Emits::any_number,
                                           .hears = events<Restored, Watermark, Ended>,
                                           .needs_watermarks = true,
                                           .forgets_input = true};

    void process(message::Hashed<Notice>& arrived, auto& /*emit*/) {
        if (second_ == nullptr || arrived.record.time != second_time_) {
            second_time_ = arrived.record.time;
            second_ = &waiting_[second_time_];
        }
        const bool asks = arrived.record.kind == Notice::Kind::ask_balance;
        (asks ? second_->questions : second_->charges).push_back(arrived);
    }
    void on(Restored) noexcept { second_ = nullptr; }
    bool on(Watermark watermark, auto& emit) { return settle(watermark.time, emit); }
    bool on(Ended, auto& emit) { return settle(EventTime::latest(), emit); }
    auto state() { return std::tie(accounts_, waiting_); }

  private:
    struct Account {
        std::int64_t balance = 0;
        std::int32_t changed = 0;  // seconds
    };
    using Notices = std::vector<message::Hashed<Notice>>;
    struct Second {
        Notices questions;
        Notices charges;
    };
    /// By second, in a snapshot also by key: replicas share them out.
    struct Waiting : std::map<std::int32_t, Second> {
        void save(StateWriter& writer) const {
            writer.length(size());
            for (const auto& [time, second] : *this) {
                state::save(writer, time);
                state::save(writer, second);
            }
        }
        void load(StateReader& reader) { load(reader, operators::KeyShare{}); }
        void load(StateReader& reader, const operators::KeyShare& share) {
            const auto add = [&share](const Notices& from, Notices& to) {
                std::ranges::copy_if(from, std::back_inserter(to), [&share](const auto& notice) {
                    return share.has(notice.hash);
                });
            };
            for (std::size_t left = reader.length(); left != 0; --left) {
                const auto time = state::loaded<std::int32_t>(reader);
                const auto second = state::loaded<Second>(reader);
                add(second.questions, (*this)[time].questions);
                add(second.charges, (*this)[time].charges);
            }
        }
    };

    bool settle(EventTime until, auto& emit) {
        while (!waiting_.empty()) {
            const auto first = waiting_.begin();
            const EventTime time{std::chrono::seconds{first->first}};
            if (time > until) return true;
            auto& questions = first->second.questions;
            while (!questions.empty()) {
                if (!emit.room()) return false;
                answer(questions.back(), emit);
                questions.pop_back();
            }
            if (time >= until && until != EventTime::latest()) return true;
            for (const auto& charge : first->second.charges) book(charge);
            waiting_.erase(first);
            second_ = nullptr;
        }
        return true;
    }
    void answer(const message::Hashed<Notice>& question, auto& emit) {
        const auto* account = accounts_.find(question.record.subject, question.hash);
        const Account known = account == nullptr ? Account{} : account->state;
        emit(Notice{question.record.time, question.record.detail, known.balance, known.changed,
                    Notice::Kind::balance});
    }
    void book(const message::Hashed<Notice>& charge) {
        Account& account =
            accounts_.find_or_make(charge.record.subject, charge.hash, [] { return Account{}; })
                .state;
        account.balance += charge.record.amount;
        account.changed = charge.record.time;
    }

    KeyedState<std::int32_t, Account> accounts_;
    Waiting waiting_;
    std::int32_t second_time_ = 0;  // of second_
    Second* second_ = nullptr;      // where the last entry went; null: nowhere that is still there
};

}  // namespace strid::apps::linear_road
