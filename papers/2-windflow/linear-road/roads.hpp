// SPDX-License-Identifier: Apache-2.0
//
// The operator behind `key_by(RoadOrCar)`: each replica has the roads that its keys give it,
// and all reports of a road in their order. Questions pass through it, to have one way less. It
// needs no watermark, because a road goes to the next minute with its own reports; watermarks pass
// through to the accounts.
//
// State: that of each road (road.hpp), and a pointer for each number of a road up to the highest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/operator/contract.hpp>
#include <strid/state/codec.hpp>

#include "history.hpp"
#include "road.hpp"

namespace strid::apps::linear_road {

/// Roads by number.
class RoadTable {
  public:
    RoadTable() = default;
    RoadTable(const RoadTable& /*prototype*/) {}
    RoadTable(RoadTable&&) = default;
    RoadTable& operator=(const RoadTable&) = delete;
    RoadTable& operator=(RoadTable&&) = default;
    ~RoadTable() = default;

    [[nodiscard]] Road& operator[](std::uint32_t number) {
        if (number >= roads_.size() || roads_[number] == nullptr) [[unlikely]]
            make(number);
        return *roads_[number];
    }
    /// Cars that are known. O(roads).
    [[nodiscard]] std::size_t keys() const noexcept {
        std::size_t cars = 0;
        for (const auto& road : roads_) cars += road ? road->cars() : 0;
        return cars;
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
        std::size_t bytes = roads_.capacity() * sizeof(roads_[0]);
        for (const auto& road : roads_) bytes += road ? road->bytes() : 0;
        return bytes;
    }

    // As strid/state/codec.hpp says. The roads are by key: replicas share them out.
    void save(StateWriter& writer) const {
        writer.length(static_cast<std::size_t>(
            std::ranges::count_if(roads_, [](const auto& road) { return road != nullptr; })));
        for (std::size_t number = 0; number != roads_.size(); ++number) {
            if (roads_[number] == nullptr) continue;
            writer.number(number);
            state::save(writer, *roads_[number]);
        }
    }
    void load(StateReader& reader) { load(reader, operators::KeyShare{}); }
    void load(StateReader& reader, const operators::KeyShare& share) {
        for (std::size_t left = reader.length(); left != 0; --left) {
            const auto number = static_cast<std::uint32_t>(reader.choice(roads_max));
            if (share.has(hash_of(number))) {
                state::load(reader, (*this)[number]);
            } else {
                Road of_another(false);
                state::load(reader, of_another);
            }
        }
    }

  private:
    static constexpr std::size_t roads_max = 2 * std::size_t{expressways_max};

    void make(std::uint32_t number) {
        if (number >= roads_.size()) roads_.resize(number + 1);
        roads_[number] = std::make_unique<Road>(number % 2 == 0);
    }

    std::vector<std::unique_ptr<Road>> roads_;
};

/// The key that keeps records together: the road of a report, the car of a question.
struct RoadOrCar {
    std::uint32_t operator()(const Event& event) const noexcept {
        constexpr std::uint32_t question = std::uint32_t{1} << 31;
        return event.kind == Kind::position ? event.road()
                                            : question | static_cast<std::uint32_t>(event.car);
    }
};

/// A question on its way.
[[nodiscard]] inline Notice question_of(const Event& event) noexcept {
    if (event.kind == Kind::balance) {
        return {event.time, event.car, 0, event.query, Notice::Kind::ask_balance};
    }
    return {event.time, event.query, history_key(event.car, event.day, event.expressway), 0,
            Notice::Kind::ask_expenditure};
}

class Roads : public OperatorTypes<message::Hashed<Event>, Notice> {
  public:
    static constexpr OperatorTraits traits{.kind = "roads",
                                           .emits = Emits::any_number,
                                           .hears = events<Coming<message::Hashed<Event>>>,
                                           .forgets_input = true};

    [[nodiscard]] std::size_t on(Coming<message::Hashed<Event>> coming) {
        constexpr std::size_t at_once = 32;
        const auto some = coming.records.first(std::min(coming.records.size(), at_once));
        for (const auto& [event, hash] : some) {
            if (event.kind == Kind::position) roads_[event.road()].prefetch(event);
        }
        return some.size();
    }

    [[gnu::always_inline]] void process(message::Hashed<Event>& arrived, auto& emit) {
        const Event& event = arrived.record;
        if (event.kind != Kind::position) [[unlikely]]
            return emit(question_of(event));
        roads_[event.road()].report(event, [&](Notice&& notice) { emit(std::move(notice)); });
    }
    auto state() { return std::tie(roads_); }

  private:
    RoadTable roads_;
};

}  // namespace strid::apps::linear_road
