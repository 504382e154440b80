// SPDX-License-Identifier: Apache-2.0
//
// Tests of one operator without a graph. A harness sends records and events, and has what the
// operator emits:
//
//     strid::test::Harness harness{EverySecond{}};
//     harness.batch({1, 2, 3});
//     assert(harness.emitted() == std::vector{2});
//
// An operator is given as to `apply`: itself, or by its maker with a description of the records
// (test/arriving.hpp). A function with timers is one too:
//
//     using namespace strid::test;
//     Harness harness{process<Alarm>(MissingClick{}), arriving_by_key<Click>(&Click::user)};
//
// The records pass the fused chain of the engine (engine/kernel/fused_chain.hpp), with the operator
// and a sink that keeps them: the rules of the contract hold as in a graph. The machine's clock
// stands still for the operator, and moves by advance_clock().
//
// A record may point to text that lives as long as the harness, such as a literal.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/hash.hpp>
#include <strid/base/time.hpp>
#include <strid/base/watermark.hpp>
#include <strid/engine/kernel/fused_chain.hpp>
#include <strid/engine/kernel/passage.hpp>
#include <strid/engine/kernel/router.hpp>
#include <strid/engine/kernel/stage_list.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/contract_checks.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/engine/test/observed.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/contract.hpp>
#include <strid/runtime/task.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>
#include <strid/test/arriving.hpp>

namespace strid::test {

/// The state of an operator in a harness, as bytes.
struct SavedState {
    std::vector<std::byte> bytes;  ///< As strid/state/codec.hpp writes them.
    Progress input;                ///< Of the stream that arrives.
    Progress output;               ///< Of the stream behind the operator.
    std::int64_t clock_ns = 0;     ///< The operator's clock.
};

/// One operator with what it emits. It stays where it is made. An exception of the operator comes
/// as the OperatorError of a run; std::logic_error: the engine would not do this.
template <class Operator, class Description>
class Harness {
    static_assert(operators::is_operator<Operator>());
    static_assert(!operators::Hears<Operator, TasksWanted>,
                  "an operator that brings tasks needs the threads of a run: test it in a graph");
    using Stage = detail::Observed<Operator>;
    static constexpr bool is_sink = Operator::traits.emits == Emits::nothing;

  public:
    /// An arriving record, without the hash of its key.
    using Record = typename Description::record;
    /// An emitted record; of a sink, a type without meaning.
    using Emitted = std::conditional_t<is_sink, int, typename Operator::Emitted>;
    /// A late record.
    using Late = typename operators::Unhashed<typename Operator::Arrived>::type;

    /// The operator is opened. Throws OperatorError.
    explicit Harness(Operator one) : Harness(std::move(one), Description{}) {}
    /// The same; the operator may be a maker, for records as they are described.
    template <class OperatorOrMaker>
    Harness(OperatorOrMaker one, Description description)
        : description_(std::move(description)),
          chain_(stages(detail::made_for(std::move(one), description_)), {}) {
        Context context{.name = names_[0], .counters = &counters_};
        notify(Opened{context, task_, {}});
    }
    Harness(const Harness&) = delete;
    Harness& operator=(const Harness&) = delete;

    // ---- records and events --------------------

    /// A batch of one record.
    void record(Record record) { batch(std::span<Record>(&record, 1)); }
    /// The records of a batch, which are moved from, and the events around them. A record is
    /// handled also where there is no room for its results.
    void batch(std::span<Record> records) { batch(records, {progress_.watermark, 0}); }
    /// The same.
    void batch(std::vector<Record> records) { batch(std::span<Record>(records)); }
    /// The same: `batch({1, 2, 3})`.
    void batch(std::initializer_list<Record> records) { batch(std::vector<Record>(records)); }
    /// The same; `begins` has the watermark and the input of the batch.
    void batch(std::span<Record> records, const BatchBegins& begins) {
        check_open();
        const SetClock clock{clock_ns_};
        std::vector<Arrived> arrived;
        arrived.reserve(records.size());
        for (Record& record : records) arrived.push_back(as_it_arrives(std::move(record)));
        notify(begins);
        hold_texts();
        pass(arrived);
        notify(BatchEnds{});
        hold_texts();
        if constexpr (Chain::asks) (void)advance();
    }
    /// The watermark of the input: it is never earlier than the one before. False if the operator
    /// has more to emit than there is room for: make_room(), and go_on().
    bool watermark(EventTime time) {
        check_open();
        if (time < progress_.watermark) throw std::logic_error("a watermark does not go back");
        progress_ = {time, false};
        return advance();
    }
    /// The input has no watermark for now. The result is that of watermark().
    bool idle() {
        check_open();
        progress_.idle = true;
        return advance();
    }
    /// The watermark of the source in the operator's own segment (SourceProgress), between two
    /// records.
    void source_watermark(EventTime time) {
        check_open();
        const SetClock clock{clock_ns_};
        Passed passed{};
        Passage passage{chain_, names_.data(), passed};
        (void)passage.on_progress({time, false});
    }
    /// The machine's clock goes on, and the operator gets a call if it uses the clock. The result
    /// is that of watermark().
    bool advance_clock(Duration by) {
        check_open();
        clock_ns_ += by.count();
        if constexpr (Chain::asks) return advance();
        return true;
    }
    /// No batch waits in the input: records that are held back for larger batches are sent.
    void flush() {
        check_open();
        notify(Flush{});
    }
    /// The input has ended: Ended, and Closed once all is out. The result is that of watermark().
    bool end() {
        if (closed_) return true;
        if (!ending_) check_open();
        ending_ = true;
        const SetClock clock{clock_ns_};
        {
            Passed passed{};
            Passage passage{chain_, names_.data(), passed};
            if (!passage.finish(Clock{clock_ns_})) return false;
        }
        notify(Closed{});
        return closed_ = true;
    }
    /// Sends the event again that found no room. The result is that of watermark().
    bool go_on() { return ending_ ? end() : advance(); }

    /// The operator may emit this many records more: then `emit.room()` is false. Without limit at
    /// the beginning. The results of one record are never cut in two.
    void make_room(std::size_t records) noexcept { results_.room = records; }
    /// From now on, records on which the operator's function throws are dropped and counted, as by
    /// OnException::skip.
    void skip_exceptions() noexcept
        requires(Operator::traits.may_skip)
    {
        chain_.skip(0);
    }

    // ---- results --------------------

    /// All emitted records, in order.
    [[nodiscard]] const std::vector<Emitted>& emitted() const noexcept { return results_.emitted; }
    /// The same, and forgets them.
    [[nodiscard]] std::vector<Emitted> take_emitted() {
        return std::exchange(results_.emitted, {});
    }
    /// All late records, in order.
    [[nodiscard]] const std::vector<Late>& late() const noexcept
        requires(!is_sink)
    {
        return results_.late;
    }
    /// The same, and forgets them.
    [[nodiscard]] std::vector<Late> take_late()
        requires(!is_sink)
    {
        return std::exchange(results_.late, {});
    }
    /// How many late records the operator has reported.
    [[nodiscard]] std::uint64_t late_count() noexcept { return late_ += chain_.take_late(0); }
    /// How many records were dropped by skip_exceptions().
    [[nodiscard]] std::uint64_t skipped() noexcept { return skipped_ += chain_.take_skipped(0); }
    /// The watermark of the stream behind the operator.
    [[nodiscard]] const Progress& progress() const noexcept { return results_.progress; }
    /// The present time of the operator's clock.
    [[nodiscard]] ProcessingTime clock() const noexcept { return ProcessingTime::of_ns(clock_ns_); }
    /// When the operator wants a call without input, on this clock; 0: never.
    [[nodiscard]] std::int64_t wake_at_ns() noexcept {
        if constexpr (operators::has<Operator, Has::wake_at_ns>) return one().wake_at_ns();
        return 0;
    }
    /// The operator allows no further record for a while.
    [[nodiscard]] bool held_back() const noexcept { return chain_.held_back(false); }
    /// The keys and bytes that a report would have.
    [[nodiscard]] operators::StateSize state_size() { return operators::state_size(one()); }
    /// The value of a counter of the operator (Context::counter); 0 without one.
    [[nodiscard]] std::uint64_t counter(std::string_view name) const {
        std::uint64_t found = 0;
        counters_.for_each([&](const std::string& counted, std::uint64_t value) {
            if (counted == name) found = value;
        });
        return found;
    }

    // ---- the operator --------------------

    /// The operator, between two calls.
    [[nodiscard]] Operator& one() noexcept { return at_hand(); }
    /// Goes on from the state of another, whose operator was made with the same arguments: moves
    /// what its state() names, and sends Restored. Before the first record. The other is not used
    /// any more. A test of state(): both halves emit what one operator would have.
    void restore(Harness& other) {
        auto from = operators::state_of(other.one());
        auto into = operators::state_of(one());
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (detail::move_state(std::get<I>(into), std::get<I>(from)), ...);
        }(std::make_index_sequence<std::tuple_size_v<decltype(into)>>{});
        progress_ = other.progress_;
        results_.progress = other.results_.progress;
        clock_ns_ = other.clock_ns_;
        notify(Restored{});
    }

    /// Whether each element of the operator's state has a codec (strid/state/codec.hpp).
    static constexpr bool has_codec =
        []<class... States>(std::type_identity<std::tuple<States...>>) {
            return (state::has_codec<std::remove_cvref_t<States>>() && ...);
        }(std::type_identity<decltype(operators::state_of(std::declval<Operator&>()))>{});
    /// The operator's state as a snapshot has it, with the time of its stream and its clock.
    [[nodiscard]] SavedState saved()
        requires has_codec
    {
        StateBytes kept;
        StateWriter writer{kept};
        operators::for_each_state(one(),
                                  [&writer](const auto& part) { state::save(writer, part); });
        writer.flush();
        return {kept.take(), progress_, results_.progress, clock_ns_};
    }
    /// Goes on from the saved state of an operator that was made with the same arguments, and sends
    /// Restored. Before the first record. Throws StateError.
    void restore(const SavedState& saved)
        requires has_codec
    {
        StateReader reader{saved.bytes};
        operators::for_each_state(one(), [&reader](auto& part) { state::load(reader, part); });
        reader.expect_end();
        progress_ = saved.input;
        results_.progress = saved.output;
        clock_ns_ = saved.clock_ns;
        notify(Restored{});
    }

  private:
    using Arrived = typename Operator::Arrived;
    using Take = detail::Take<typename Stage::Emitted, Emitted, Late>;
    using Chain = std::conditional_t<is_sink, operators::FusedChain<operators::NoRouter, Stage>,
                                     operators::FusedChain<operators::NoRouter, Stage, Take>>;
    using Passed = typename Chain::Passed;
    using Passage = typename Chain::Passage;

    /// The operator's clock, for as long as it is called.
    class SetClock {
      public:
        explicit SetClock(const std::int64_t& ns) noexcept
            : before_(std::exchange(strid::detail::set_clock_ns, &ns)) {}
        SetClock(const SetClock&) = delete;
        SetClock& operator=(const SetClock&) = delete;
        ~SetClock() { strid::detail::set_clock_ns = before_; }

      private:
        const std::int64_t* before_;
    };
    /// It is never run: nothing waits for a notification.
    struct NoTask final : runtime::Task {
        NoTask() : Task("harness") {}
        runtime::StepResult step(std::int64_t&) override { return runtime::StepResult::finished; }
    };

    auto stages(Operator one) {
        if constexpr (is_sink) {
            return operators::StageList<Stage>{{std::move(one)}};
        } else {
            return operators::StageList<Stage, Take>{{Stage{std::move(one)}}, {Take{results_}}};
        }
    }
    [[nodiscard]] Operator& at_hand() noexcept {
        Operator* found = nullptr;
        chain_.for_each_stage([&found]<std::size_t I>(auto& stage) {
            if constexpr (I == 0) found = &stage;
        });
        return *found;
    }

    void check_open() const {
        if (ending_) throw std::logic_error("nothing follows the end of the stream");
        if (advancing_) throw std::logic_error("the operator has to go_on() first");
    }
    [[nodiscard]] Arrived as_it_arrives(Record record) {
        if constexpr (std::is_same_v<Arrived, Record>) {
            return record;
        } else {
            const std::uint64_t hash =
                hash_of(std::invoke(description_.key_of, std::as_const(record)));
            return Arrived{std::move(record), hash};
        }
    }
    void pass(std::vector<Arrived>& arrived) {
        Passed passed{};
        Passage passage{chain_, names_.data(), passed};
        for (std::size_t at = 0; at != arrived.size();) {
            std::size_t some =
                chain_.look_ahead(arrived.data() + at, arrived.size() - at, names_.data());
            for (; some != 0; --some, ++at) passage.pass(arrived[at]);
        }
    }
    [[nodiscard]] bool advance() {
        const SetClock clock{clock_ns_};
        Passed passed{};
        Passage passage{chain_, names_.data(), passed};
        advancing_ = !passage.advance(progress_, Clock{clock_ns_});
        return !advancing_;
    }
    template <class Event>
    void notify(const Event& event) {
        const SetClock clock{clock_ns_};
        chain_.template each_that_hears<Event>([&]<std::size_t I>(auto& stage) {
            operators::guarded(names_[I], [&] { stage.on(event); });
        });
    }
    /// The results may refer to texts of the operator that it retires.
    void hold_texts() {
        operators::for_each_state(one(), [this](auto& state) {
            if constexpr (requires { state.texts(); }) {
                const memory::TextReference& epoch = state.texts().advance_epoch();
                if (texts_.empty() || texts_.back().get() != epoch.get()) texts_.push_back(epoch);
            }
        });
    }

    Description description_;
    std::array<std::string, 2> names_{std::string(Operator::traits.kind), "take"};
    operators::CounterSet counters_;
    NoTask task_;
    detail::Results<Emitted, Late> results_;
    Chain chain_;
    std::vector<memory::TextReference> texts_;  // of the operator, that results may refer to
    Progress progress_;                         // of the input
    std::int64_t clock_ns_ = Duration{std::chrono::hours{1}}.count();
    std::uint64_t late_ = 0;
    std::uint64_t skipped_ = 0;
    bool advancing_ = false;  // the operator has to emit more
    bool ending_ = false;
    bool closed_ = false;
};

/// An operator by itself.
template <class Operator>
Harness(Operator) -> Harness<Operator, typename decltype(detail::description_of<Operator>())::type>;
/// An operator, or what makes one of the description.
template <class OperatorOrMaker, class Description>
Harness(OperatorOrMaker, Description)
    -> Harness<decltype(detail::made_for(std::declval<OperatorOrMaker>(),
                                         std::declval<const Description&>())),
               Description>;

}  // namespace strid::test
