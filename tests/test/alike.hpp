// SPDX-License-Identifier: Apache-2.0
//
// The proof that state() is complete. Two operators get the same random records and events. At a
// random moment the state of one is moved into a fresh operator that was made with the same
// arguments, and the old one is overwritten and freed; in another run the state goes there as bytes
// (strid/state/codec.hpp). From then on the fresh one and the other must answer alike, row by row.
// A state in which any element is left out must be found out: each is necessary.
//
// Where an operator has a table that is saved in slices, the old one goes on meanwhile, and is
// saved again, by its changes. One that is made of all these bytes must answer as from the last of
// these moments on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/operator/slices.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/test/harness.hpp>

#include "../support/seeds.hpp"
#include "rows.hpp"
#include "saved_chain.hpp"

namespace strid::test {

/// The properties of a random stream.
struct Ways {
    std::uint32_t keys = 7;
    std::int64_t disorder = 40;   ///< Of times, which rise by 2 a record.
    std::int64_t clock_step = 0;  ///< The clock goes on by so much, now and then; 0: it stands.
    bool goes_idle = true;
    std::uint64_t cases = 300;
    /// Elements of the state whose loss no row shows, each with a reason where it is listed.
    std::vector<std::size_t> unneeded = {};
    /// Why the state has no codec, where it has none.
    const char* without_codec = nullptr;
};

/// The output of tested sinks since it was read last.
inline std::string& sink_log() {
    static std::string log;
    return log;
}

/// The next of a random stream: either records, or what happens between them.
struct Step {
    enum class Kind : std::uint8_t { batch, watermark, idle, flush, clock };
    Kind kind = Kind::batch;
    std::vector<Reading> records;
    BatchBegins begins{};
    EventTime watermark;
    std::size_t room = 0;
};

class RandomStream {
  public:
    RandomStream(std::uint64_t seed, const Ways& ways) : random_(seed), ways_(ways) {}

    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    Step next() {
        using enum Step::Kind;
        Step step;
        step.room = below(4);
        const std::uint64_t chosen = below(20);
        if (chosen < 9) {
            for (std::uint64_t n = 1 + below(6); n != 0; --n) step.records.push_back(record());
            step.begins = {watermark_of_input(), below(2)};
        } else if (chosen < 16) {
            step.kind = watermark;
            const EventTime behind = EventTime::of_ns(now_ - static_cast<std::int64_t>(below(60)));
            watermark_ = std::max(watermark_, behind);
        } else if (chosen < 18) {
            step.kind = flush;
        } else if (chosen == 18) {
            step.kind = ways_.goes_idle ? idle : flush;
        } else {
            step.kind = ways_.clock_step != 0 ? clock : flush;
        }
        step.watermark = watermark_;
        return step;
    }

  private:
    /// That of one input: it may be ahead of the others, or be behind them because it was idle.
    EventTime watermark_of_input() {
        constexpr std::array<std::int64_t, 4> ahead{0, 0, 3, -40};
        return watermark_ + Duration{ahead[below(ahead.size())]};
    }
    Reading record() {
        now_ += static_cast<std::int64_t>(below(5));
        const std::int64_t late =
            below(4) == 0
                ? static_cast<std::int64_t>(below(static_cast<std::uint64_t>(ways_.disorder)))
                : 0;
        return {static_cast<std::uint32_t>(below(ways_.keys)), EventTime::of_ns(now_ - late),
                static_cast<std::int64_t>(number_++)};
    }

    std::mt19937_64 random_;
    Ways ways_;
    std::int64_t now_ = 1'000;
    std::uint64_t number_ = 0;
    EventTime watermark_ = EventTime::earliest();
};

/// Frees an object that is overwritten first: a reference to it that is left finds no data.
struct Overwrites {
    template <class T>
    void operator()(T* object) const {
        std::destroy_at(object);
        std::memset(static_cast<void*>(object), 0xab, sizeof(T));
        ::operator delete(static_cast<void*>(object), std::align_val_t{alignof(T)});
    }
};
template <class T, class... Arguments>
std::unique_ptr<T, Overwrites> made(Arguments&&... arguments) {
    void* const room = ::operator new(sizeof(T), std::align_val_t{alignof(T)});
    return std::unique_ptr<T, Overwrites>{::new (room) T(std::forward<Arguments>(arguments)...)};
}

/// Two operators as described above. `make()` makes one, `arriving` describes what arrives, and
/// `as_record(reading)` makes a record of it.
template <class Make, class Description, class AsRecord>
class Alike {
    using Operator =
        decltype(detail::made_for(std::declval<Make&>()(), std::declval<const Description&>()));
    using Driven = Harness<Operator, Description>;
    using Pointer = std::unique_ptr<Driven, Overwrites>;
    using Record = typename Driven::Record;
    static constexpr std::size_t states =
        std::tuple_size_v<decltype(operators::state_of(std::declval<Operator&>()))>;
    static constexpr std::size_t none = states;
    static constexpr bool has_slices =
        []<class... Parts>(std::type_identity<std::tuple<Parts...>>) {
            return (operators::SavedInSlices<std::remove_cvref_t<Parts>> || ...);
        }(std::type_identity<decltype(operators::state_of(std::declval<Operator&>()))>{});
    /// How a state goes to the fresh operator.
    enum class Way : std::uint8_t { moved, saved };

  public:
    Alike(Make make, Description arriving, AsRecord as_record, Ways ways)
        : make_(std::move(make)),
          arriving_(std::move(arriving)),
          as_record_(std::move(as_record)),
          ways_(ways) {}

    /// Every case is alike, and each element of the state is necessary.
    void check() {
        EXPECT_EQ(Driven::has_codec, ways_.without_codec == nullptr);
        for (const std::uint64_t seed : seeds(ways_.cases)) {
            ASSERT_EQ(difference(seed, none, Way::moved), "") << "seed " << seed;
            ASSERT_EQ(difference(seed, none, Way::saved), "") << "as bytes, seed " << seed;
            if constexpr (has_slices) {
                ASSERT_EQ(difference_in_slices(seed), "") << "in slices, seed " << seed;
            }
        }
        for (std::size_t left_out = 0; left_out != states; ++left_out) {
            if (std::ranges::count(ways_.unneeded, left_out) != 0) continue;
            bool is_found = false;
            for (const std::uint64_t seed : seeds(20 * ways_.cases)) {  // mostly found by the first
                is_found = is_found || !difference(seed, left_out, Way::moved).empty();
                if (is_found) break;
            }
            EXPECT_TRUE(is_found) << "without element " << left_out << " of its state it is alike";
        }
    }
    /// In which rows they differ if an element of the state is left out; empty: in none.
    [[nodiscard]] std::string difference(std::uint64_t seed, std::size_t left_out,
                                         Way way = Way::moved) {
        RandomStream stream{seed, ways_};
        Pointer whole = fresh();
        Pointer parted = fresh();
        const std::uint64_t steps = 5 + stream.below(80);
        const std::uint64_t cut = stream.below(steps);
        for (std::uint64_t i = 0; i != steps; ++i) {
            if (i == cut) {
                Pointer next = fresh();
                if (left_out != none) leave_out(left_out, *parted);
                if (way == Way::moved) {
                    next->restore(*parted);
                } else if constexpr (Driven::has_codec) {
                    next->restore(parted->saved());
                } else {
                    return "";
                }
                parted = std::move(next);
            }
            const Step step = stream.next();
            const std::string rows = answer_of(*whole, step);
            std::string other;
            try {
                other = answer_of(*parted, step);
            } catch (const std::exception& fault) {
                return std::string("it throws: ") + fault.what();
            }
            if (rows != other) {
                return "step " + std::to_string(i) + " of " + std::to_string(steps) + ", cut at " +
                       std::to_string(cut) + ":\n" + rows + "\nand behind the cut:\n" + other;
            }
        }
        return difference_at_end(*whole, *parted);
    }

    /// The same where the state is saved in slices of one entry, between the steps and where there
    /// is no room, and then what has changed, several times.
    [[nodiscard]] std::string difference_in_slices(std::uint64_t seed)
        requires has_slices
    {
        RandomStream stream{seed, ways_};
        slices_random_.seed(seed);
        chain_ = {};
        Pointer whole = fresh();
        Pointer parted = fresh();
        const std::uint64_t steps = 5 + stream.below(80);
        const std::uint64_t first = stream.below(steps);
        const std::uint64_t apart = 2 + stream.below(20);  // snapshots, in steps
        std::vector<std::pair<Step, std::string>> behind;  // the last of them
        for (std::uint64_t i = 0; i != steps; ++i) {
            if (i == first || (i > first && (i - first) % apart == 0)) {
                behind.clear();
                begin_saving(*parted);
            }
            const Step step = stream.next();
            const std::string rows = answer_of(*whole, step);
            if (rows != answer_of(*parted, step)) return "step " + std::to_string(i) + ", saving";
            if (i >= first) behind.emplace_back(step, rows);
            save_some(*parted);
        }
        saved_->bytes = chain_.bytes();
        parted = fresh();
        parted->restore(*saved_);
        for (std::size_t i = 0; i != behind.size(); ++i) {
            const std::string other = answer_of(*parted, behind[i].first);
            if (behind[i].second == other) continue;
            return "step " + std::to_string(steps - behind.size() + i) + " of " +
                   std::to_string(steps) + ", behind " + std::to_string(chain_.size()) +
                   " snapshots:\n" + behind[i].second + "\nand behind them:\n" + other;
        }
        return difference_at_end(*whole, *parted);
    }

  private:
    [[nodiscard]] Pointer fresh() { return made<Driven>(make_(), arriving_); }

    std::string difference_at_end(Driven& whole, Driven& parted) {
        const auto end = [](Driven& one) { return one.end(); };
        const std::string rows = while_refused(whole, 1, end);
        const std::string other = while_refused(parted, 1, end);
        return rows == other ? "" : "at the end:\n" + rows + "\nand behind the cut:\n" + other;
    }
    void begin_saving(Driven& one) {
        saved_ = one.saved();
        chain_.begin([&one](operators::NodeState& node) {
            operators::for_each_state(one.one(), [&node](const auto& part) { node.save(part); });
        });
        saved_one_ = &one;
    }
    /// Up to two slices, if it is the one that is being saved.
    void save_some(const Driven& one) {
        if (&one == saved_one_) chain_.save_slices(slices_random_() % 3);
    }

    /// Puts the state that a fresh operator has in the place of an element.
    void leave_out(std::size_t left_out, Driven& one) {
        if constexpr (states != 0) {
            Pointer empty = fresh();
            auto from = operators::state_of(empty->one());
            auto into = operators::state_of(one.one());
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                ((I == left_out ? put<I>(into, from) : void()), ...);
            }(std::make_index_sequence<states>{});
        }
    }
    template <std::size_t I, class States>
    static void put(States& into, States& from) {
        detail::move_state(std::get<I>(into), std::get<I>(from));
    }

    std::string answer_of(Driven& one, const Step& step) {
        const std::string rows = rows_of(one, step);
        return rows + "keys " + std::to_string(one.state_size().keys) + ", watermark " +
               text_of(one.progress().watermark) + (one.progress().idle ? " idle" : "") +
               (one.held_back() ? " held" : "");
    }
    std::string rows_of(Driven& one, const Step& step) {
        using enum Step::Kind;
        std::vector<Record> records;
        std::vector<std::string> texts;
        switch (step.kind) {
            case batch:
                texts.reserve(step.records.size());  // records point to them
                for (const Reading& reading : step.records) {
                    texts.push_back("key " + std::to_string(reading.key) + " with a long text");
                    records.push_back(as_record_(reading, texts.back()));
                }
                one.batch(std::span<Record>(records), step.begins);
                for (std::string& text : texts) text.assign(text.size(), '?');
                return rows_so_far(one);
            case watermark:
                return while_refused(one, step.room,
                                     [&](Driven& it) { return it.watermark(step.watermark); });
            case idle:
                return while_refused(one, step.room, [](Driven& it) { return it.idle(); });
            case flush:
                one.flush();
                return rows_so_far(one);
            case clock:
                break;
        }
        const std::int64_t wakes_at = one.wake_at_ns();
        const std::string rows = while_refused(one, step.room, [this](Driven& it) {
            return it.advance_clock(Duration{ways_.clock_step});
        });
        const bool wakes = wakes_at != 0 && wakes_at <= one.clock().ns();
        return rows.empty() || wakes ? rows : rows + " without a wake";
    }
    template <class Send>
    std::string while_refused(Driven& one, std::size_t room, const Send& send) {
        one.make_room(room);
        bool done = send(one);
        std::string rows;
        while (!done) {
            rows += rows_so_far(one);
            save_some(one);
            one.make_room(1 + room);
            done = one.go_on();
        }
        one.make_room(std::numeric_limits<std::size_t>::max());
        return rows + rows_so_far(one);
    }
    static std::string rows_so_far(Driven& one) {
        std::string rows;
        for (const auto& row : one.take_emitted()) rows += text_of(row) + " ";
        if constexpr (requires { one.late(); }) {
            for (const auto& late : one.take_late()) rows += "late " + text_of(late) + " ";
        }
        return rows + std::exchange(sink_log(), {});
    }

    Make make_;
    Description arriving_;
    AsRecord as_record_;
    Ways ways_;
    const Driven* saved_one_ = nullptr;      // the operator whose state is being saved
    std::optional<test::SavedState> saved_;  // with all that is not in slices
    SavedChain chain_;
    std::mt19937_64 slices_random_;
};

constexpr auto a_reading = [](const Reading& reading, std::string_view) { return reading; };
constexpr auto a_line = [](const Reading& reading, std::string_view text) {
    return Line{text, reading.time, reading.value};
};
constexpr auto a_side = [](const Reading& reading, std::string_view) {
    return reading.value % 3 == 0 ? Either{std::in_place_index<0>, reading}
                                  : Either{std::in_place_index<1>, reading};
};

/// Checks the operator that `make()` makes.
template <class Make, class Description, class AsRecord>
void state_is_complete(Make make, Description arriving, AsRecord as_record, const Ways& ways = {}) {
    Alike{std::move(make), std::move(arriving), std::move(as_record), ways}.check();
}
/// The same of readings, without a key.
template <class Make>
void state_is_complete(Make make, const Ways& ways = {}) {
    state_is_complete(std::move(make), arriving<Reading>(TimeOf{}), a_reading, ways);
}
/// The same behind key_by.
template <class Make>
void keyed_state_is_complete(Make make, const Ways& ways = {}) {
    state_is_complete(std::move(make), arriving_by_key<Reading>(KeyOf{}, TimeOf{}), a_reading,
                      ways);
}

}  // namespace strid::test
