// SPDX-License-Identifier: Apache-2.0
//
// The states of an earlier run, for the operators of a graph. An operator finds its state by its
// name. With other numbers of replicas operators are fused in another way: that changes where a
// state was, and not what it is.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid {

class StatesBefore {
  public:
    /// `now` has the first replica of each section of the graph, producers before consumers.
    /// Throws StateError where a snapshot is not complete.
    StatesBefore(Snapshot before, const std::vector<SnapshotNode>& now);

    /// In one sentence how the graph is another one; empty: it is not.
    [[nodiscard]] const std::string& difference() const noexcept { return difference_; }

    /// The parts that replica `replica` of a section goes on from; nothing: it has ended. Throws
    /// StateError. `has_source`: the section begins with a source.
    [[nodiscard]] std::optional<operators::PartsBefore> parts_of(std::size_t section,
                                                                 std::size_t replica,
                                                                 bool has_source) const;

  private:
    /// Where an operator was.
    struct Place {
        std::size_t first_node = 0;  ///< The first of its replicas.
        std::size_t index = 0;       ///< Among the operators that it was fused with.
    };
    struct Section {
        std::size_t replicas = 0;
        bool is_by_key = false;
        bool has_same_links = false;     // as before, and all sections in front of it have
        std::vector<Place> places = {};  // of its operators
    };

    /// The places of all operators, by name, in their order.
    [[nodiscard]] std::map<std::string, std::vector<Place>> places_by_name() const;
    void compare(const SnapshotNode& now, const Place& place, std::size_t index);
    [[nodiscard]] bool has_ended(const Section& now, std::size_t replica, bool has_source) const;
    [[nodiscard]] operators::PartBefore part(const Place& place, std::size_t part,
                                             std::size_t replica, std::size_t replicas) const;

    Snapshot before_;
    std::vector<Section> sections_;
    std::string difference_;
};

}  // namespace strid
