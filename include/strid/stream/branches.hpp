// SPDX-License-Identifier: Apache-2.0
//
// The branches of a stream that is split. Move-only, because each branch is consumed once.
//
// Threads: as Stream.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/engine/plan/alternatives.hpp>
#include <strid/engine/plan/handle.hpp>
#include <strid/engine/plan/segment.hpp>
#include <strid/stream/stream_types.hpp>

namespace strid {

/// The branches of a `split`. `select(i)` gives the stream of branch i, once.
template <class T, class Time>
class Branches {
  public:
    /// `split`: what is behind the operator that splits, with branch 0 as its origin.
    Branches(graph::Handle split, std::size_t count, Time time)
        : split_(std::move(split)), selected_(count, false), time_(std::move(time)) {}
    Branches(Branches&&) noexcept = default;
    Branches& operator=(Branches&&) noexcept = default;
    Branches(const Branches&) = delete;
    Branches& operator=(const Branches&) = delete;

    /// The number of branches, selected or not.
    [[nodiscard]] std::size_t size() const noexcept { return selected_.size(); }
    /// Throws GraphError for a branch that does not exist or was selected before.
    [[nodiscard]] StreamTimedBy<T, Time> select(std::size_t branch) {
        if (branch >= size()) {
            throw GraphError("select of branch " + std::to_string(branch) + " of a split into " +
                             std::to_string(size()));
        }
        if (selected_[branch]) {
            throw GraphError("branch " + std::to_string(branch) + " was selected before");
        }
        selected_[branch] = true;
        return {{.segments = split_.segments,
                 .origins = {{split_.origins.front().segment, branch}},
                 .last = split_.last,
                 .assigned_time = split_.assigned_time},
                {},
                time_};
    }

    /// All of them.
    template <std::size_t count>
    [[nodiscard]] std::array<StreamTimedBy<T, Time>, count> all() {
        return [this]<std::size_t... I>(std::index_sequence<I...>) {
            return std::array<StreamTimedBy<T, Time>, count>{select(I)...};
        }(std::make_index_sequence<count>{});
    }

  private:
    graph::Handle split_;
    std::vector<bool> selected_;
    [[no_unique_address]] Time time_;
};

}  // namespace strid
