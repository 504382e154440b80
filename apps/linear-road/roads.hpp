// SPDX-License-Identifier: Apache-2.0
//
// The operator behind `key_by(road)`: each replica has the roads that its keys give it, and all
// reports of a road in their order. It needs no watermark, because a road goes to the next minute
// with its own reports; watermarks pass through to the accounts.
//
// State: that of each road (road.hpp), and a pointer for each number of a road up to the highest.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

#include <strid/operator/contract.hpp>

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

  private:
    void make(std::uint32_t number) {
        if (number >= roads_.size()) roads_.resize(number + 1);
        roads_[number] = std::make_unique<Road>(number % 2 == 0);
    }

    std::vector<std::unique_ptr<Road>> roads_;
};

class Roads : public OperatorTypes<message::Hashed<Event>, Notice> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "roads", .emits = Emits::any_number, .forgets_input = true};

    [[gnu::always_inline]] void process(message::Hashed<Event>& arrived, auto& emit) {
        const Event& event = arrived.record;
        roads_[event.road()].report(event, [&](Notice&& notice) { emit(std::move(notice)); });
    }
    auto state() { return std::tie(roads_); }

  private:
    RoadTable roads_;
};

}  // namespace strid::apps::linear_road
