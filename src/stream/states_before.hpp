// SPDX-License-Identifier: Apache-2.0
//
// The states of an earlier run, for the operators of a graph. An operator finds its state by its
// name. With other numbers of replicas operators are fused in another way: that changes where a
// state was, and not what it is. An operator that the earlier run did not have begins anew.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid {

/// Of Node::types_of_state(): whether the operator has something to save.
[[nodiscard]] bool has_state(const std::string& type) noexcept;

/// A section that feeds another one.
struct Producer {
    std::size_t section = 0;  ///< Among all.
    bool is_direct = false;   ///< Its replica i feeds replica i.
};
/// Operators that are fused in the graph of now.
struct SectionNow {
    SnapshotNode node;  ///< The first replica.
    /// The types of its states as an earlier version of the program would write them that has
    /// stored these.
    std::function<std::vector<std::string>(const std::vector<std::string>&)> types_as_stored;
    bool has_source = false;
    std::vector<bool> are_named = {};  ///< Of each operator, whether it has a name of its own.
    std::vector<bool> merge = {};      ///< Of each, whether its states can be merged and split.
    std::vector<Producer> producers = {};
};

class StatesBefore {
  public:
    /// `now`: producers before consumers. `allow_lost`: states of operators that are not in it are
    /// given up. Throws StateError where a snapshot is not complete.
    StatesBefore(Snapshot before, const std::vector<SectionNow>& now, bool allow_lost);

    /// In one sentence why the graph cannot go on from these states; empty: it can.
    [[nodiscard]] const std::string& difference() const noexcept { return difference_; }
    /// The operators that are new in the graph or are given up, a sentence for each.
    [[nodiscard]] const std::vector<std::string>& changes() const noexcept { return changes_; }

    /// The parts that replica `replica` of a section goes on from; nothing: it has ended. Throws
    /// StateError.
    [[nodiscard]] std::optional<operators::PartsBefore> parts_of(std::size_t section,
                                                                 std::size_t replica);

  private:
    /// Where an operator was.
    struct Place {
        std::size_t first_node = 0;  ///< The first of its replicas.
        std::size_t index = 0;       ///< Among the operators that it was fused with.
    };
    struct Section {
        std::size_t replicas = 0;
        bool has_source = false;
        bool is_by_key = false;
        bool has_same_links = false;  // as before, and all sections in front of it have
        // Of its operators; nothing for one that begins anew.
        std::vector<std::optional<Place>> places = {};
        std::vector<Producer> producers = {};
    };

    [[nodiscard]] std::map<std::string, Place> places_by_name() const;
    [[nodiscard]] const std::string& type_at(const Place& place) const;
    [[nodiscard]] std::uint64_t bytes_at(const Place& place) const;
    /// Where the operator was; nothing: it begins anew.
    std::optional<Place> place_of(const SnapshotNode& now, std::size_t index,
                                  std::map<std::string, Place>& left);
    void compare(const SectionNow& section, const std::string& type, const Place& place,
                 std::size_t index);
    void give_up(const std::map<std::string, Place>& left, bool allow_lost);
    void forget_unnamed(const std::vector<SectionNow>& now);
    [[nodiscard]] bool had_ended(const Section& now, std::size_t replica) const;
    [[nodiscard]] bool has_ended(std::size_t section, std::size_t replica) const;
    [[nodiscard]] operators::PartBefore part(const Place& place, std::size_t part,
                                             std::size_t replica, std::size_t replicas);

    Snapshot before_;
    std::vector<Section> sections_;
    std::string difference_;
    std::vector<std::string> changes_;
};

}  // namespace strid
