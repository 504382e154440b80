// SPDX-License-Identifier: Apache-2.0
#include "papers_form.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/operator/event_time.hpp>

#include "accidents.hpp"
#include "accounts.hpp"
#include "answers.hpp"
#include "papers/2-windflow/in_one_replica.hpp"
#include "roads.hpp"
#include "statistics.hpp"
#include "tolls.hpp"
#include "travel_times.hpp"

namespace strid::apps::linear_road {

namespace {

/// The branches behind the dispatcher.
enum PapersWay : std::size_t { to_position, to_speed, to_count, papers_ways };

/// Reports go to all branches.
struct ChoosePapersWays {
    std::span<const std::size_t> operator()(const Event& event) const noexcept {
        static constexpr std::array<std::size_t, 3> report{to_position, to_speed, to_count};
        static constexpr std::array<std::size_t, 1> question{to_position};
        if (event.kind == Kind::position) return report;
        return question;
    }
};

/// `dispatch` and `time` of the other graphs.
class Dispatcher : public OperatorTypes<Event, Event> {
  public:
    static constexpr OperatorTraits traits{.kind = "flat_map",
                                           .emits = Emits::at_most_one,
                                           .hears = events<Opened, Clock, Ended>,
                                           .has = Has::draws_from | Has::wake_at_ns,
                                           .passes_records = true};

    void on(const Opened& opened) { answered_.on(opened); }
    void process(Event& event, auto& emit) {
        if (answered_(event)) time_.process(event, emit);
    }
    [[nodiscard]] const auto& draws_from() const noexcept { return time_.draws_from(); }
    [[nodiscard]] Progress on(Clock clock) { return time_.on(clock); }
    void on(Ended ended, auto& emit) { time_.on(ended, emit); }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return time_.wake_at_ns(); }
    auto state() { return time_.state(); }

  private:
    WithoutTravelTimes answered_;
    operators::EventTimeOperator<Event, TimeOf, MonotonousTime> time_{{}, {}, Duration{0}};
};

/// Passes reports and questions on, and adds the accidents that the reports show.
class Positions : public OperatorTypes<Event, ReportOrStatistic> {
  public:
    static constexpr OperatorTraits traits{.kind = "flat_map",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark, Ended>,
                                           .needs_watermarks = true,
                                           .forgets_input = true,
                                           .one_replica = true};

    void process(Event& event, auto& emit) {
        if (event.kind == Kind::position) accidents_.process(event, emit);
        emit(ReportOrStatistic{event});
    }
    bool on(Watermark watermark, auto& emit) { return accidents_.on(watermark, emit); }
    bool on(Ended ended, auto& emit) { return accidents_.on(ended, emit); }
    auto state() { return accidents_.state(); }

  private:
    InOneReplica<Accidents, ReportOrStatistic> accidents_;
};

/// The sink: rules 7 to 11 of the reports and questions, and the answers as rows.
class TollWriter : public OperatorTypes<ReportOrStatistic, void> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "sink",
        .emits = Emits::nothing,
        .hears = events<Opened, Restored, SnapshotBegins, Watermark, Ended, Flush, Closed>,
        .has = Has::facts | Has::blocks,
        .needs_watermarks = true,
        .one_replica = true};

    TollWriter(const CurrentTable<HistoryTable>& history, const AnswerWriter& writer)
        : history_(history.table()), history_files_(history.files()), writer_(writer) {}

    [[nodiscard]] OperatorFacts facts() const {
        OperatorFacts facts{.files = writer_.files()};
        facts.files.insert(facts.files.end(), history_files_.begin(), history_files_.end());
        return facts;
    }
    [[nodiscard]] bool blocks() const noexcept { return writer_.blocks(); }

    void on(const Opened& opened) {
        writer_.on(opened);
        missing_ = opened.context.counter("missing");
    }
    void on(Restored restored) noexcept { accounts_.on(restored); }
    void on(SnapshotBegins snapshot) { writer_.on(snapshot); }
    void on(Flush flush) { writer_.on(flush); }
    void on(Closed closed) { writer_.on(closed); }

    void process(ReportOrStatistic& arrived, auto& /*emit*/) {
        const auto* const event = std::get_if<Event>(&arrived);
        if (event != nullptr && event->kind != Kind::position) {
            take(question_of(*event));
        } else {
            ToThis notices{*this};
            tolls_.process(arrived, notices);
        }
    }
    /// The charges of a second before the questions of the next.
    bool on(Watermark watermark, auto& /*emit*/) { return pass_on(watermark); }
    bool on(Ended ended, auto& /*emit*/) { return pass_on(ended); }
    auto state() {
        return std::tuple_cat(operators::state_of(tolls_), operators::state_of(accounts_));
    }

  private:
    struct ToThis {
        TollWriter& writer;

        void operator()(const Notice& notice) { writer.take(notice); }
        [[nodiscard]] static bool room() noexcept { return true; }
    };
    struct ToRows {
        AnswerWriter& writer;

        void operator()(const Notice& answer) { writer(answer); }
        [[nodiscard]] static bool room() noexcept { return true; }
    };

    template <class WatermarkOrEnd>
    bool pass_on(WatermarkOrEnd event) {
        ToThis notices{*this};
        ToRows balances{writer_};
        return tolls_.on(event, notices) && accounts_.on(event, balances);
    }
    void take(const Notice& notice) {
        switch (ChooseBranch{}(notice)) {
            case notifications:
                writer_(notice);
                break;
            case history: {
                const std::int64_t* const toll = history_->find(paid_of(notice));
                if (toll == nullptr) missing_.add();
                writer_(expenditure_of(notice, toll));
                break;
            }
            default: {
                message::Hashed<Notice> charge_or_question{notice, hash_of(notice.subject)};
                ToRows balances{writer_};
                accounts_.process(charge_or_question, balances);
            }
        }
    }

    std::shared_ptr<const HistoryTable> history_;
    std::vector<FileUse> history_files_;
    AnswerWriter writer_;
    Counter missing_;
    InOneReplica<Tolls> tolls_;
    Accounts accounts_;
};

}  // namespace

void answer_in_papers_form(Stream<Event> events, const CurrentTable<HistoryTable>& tolls,
                           const AnswerWriter& writer) {
    auto by_way = std::move(events)
                      .apply(Dispatcher{}, {.name = "dispatcher"})
                      .split(papers_ways, ChoosePapersWays{});
    auto positions = by_way.select(to_position).apply(Positions{}, {.name = "toll_position"});
    auto speeds = by_way.select(to_speed)
                      .apply(InOneReplica<SpeedOfVisits>{}, {.name = "speed"})
                      .apply(InOneReplica<Velocities>{}, {.name = "last_speed"})
                      .map([](const Statistic& speed) { return ReportOrStatistic{speed}; },
                           {.name = "toll_speed"});
    auto counts = by_way.select(to_count)
                      .apply(InOneReplica<SpeedOfVisits>{}, {.name = "count"})
                      .apply(InOneReplica<Counts, ReportOrStatistic>{}, {.name = "toll_count"});
    std::move(positions)
        .merge(std::move(speeds), std::move(counts))
        .apply(TollWriter{tolls, writer}, {.name = "write"});
}

}  // namespace strid::apps::linear_road
