// SPDX-License-Identifier: Apache-2.0
//
// The job of `strid window` as a part of the states of its windows: by it a snapshot of another
// computation is refused, whose states would be taken for those of this one. Two properties of a
// run that its first rows decide are in it, too: the form of the bounds, and the header of late
// rows. The source finds them again where it reads its input again; a source that had ended does
// not.
//
// Threads: the task of a node, and while a run begins the thread that begins it.
#pragma once

#include <string_view>

#include <strid/engine/operator/key_groups.hpp>
#include <strid/state/bytes.hpp>

#include "late_file.hpp"
#include "table_plan.hpp"

namespace strid::tool {

class JobInSnapshot {
  public:
    /// `late` may be null.
    JobInSnapshot(const TablePlan& plan, LateFile* late) noexcept : plan_(&plan), late_(late) {}
    JobInSnapshot(const JobInSnapshot&) = default;
    JobInSnapshot& operator=(const JobInSnapshot&) = delete;
    /// Takes over what the first rows of the other's run have decided.
    JobInSnapshot& operator=(JobInSnapshot&& other);
    ~JobInSnapshot() = default;

    void save(StateWriter& writer) const;
    /// Throws StateError for another computation.
    void load(StateReader& reader);
    /// The same of each replica.
    void load(StateReader& reader, const operators::KeyShare& /*share*/) { load(reader); }

  private:
    void take(const TimeForm& form, std::string_view header);

    const TablePlan* plan_;
    LateFile* late_;
};

}  // namespace strid::tool
