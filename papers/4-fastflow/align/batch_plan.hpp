// SPDX-License-Identifier: Apache-2.0
//
// How a search is cut into tasks: batches of the database, each with the queries in groups, so that
// a task is some millions of cells however long queries and sequences are. One thread.
//
// A pair is never cut: a task is as long as its longest pair at least.
#pragma once

#include <cstddef>
#include <vector>

#include "query.hpp"

namespace strid::align {

/// Of a batch. Fits into a core's cache beside the profile of a query.
inline constexpr std::size_t batch_residues = std::size_t{32} << 10U;

struct QueryRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

class BatchPlan {
  public:
    explicit BatchPlan(const std::vector<Query>& queries)
        : queries_(queries), next_(queries.size()) {}

    /// All queries are to be searched in a batch of so many residues.
    void begin(std::size_t residues) noexcept {
        residues_ = residues;
        next_ = 0;
    }
    [[nodiscard]] bool has_next() const noexcept { return next_ != queries_.size(); }
    /// The next queries: at least one, and no more than make a task.
    [[nodiscard]] QueryRange next() noexcept {
        QueryRange range{next_, next_};
        std::size_t cells = 0;
        do {
            cells += cells_of(range.end++);
        } while (range.end != queries_.size() && cells + cells_of(range.end) <= cells_of_task);
        next_ = range.end;
        return range;
    }

  private:
    // A millisecond or so: long beside what handing a task out costs, short beside the whole.
    static constexpr std::size_t cells_of_task = std::size_t{16} << 20U;

    [[nodiscard]] std::size_t cells_of(std::size_t query) const noexcept {
        return queries_[query].length() * queries_[query].strands().size() * residues_;
    }

    const std::vector<Query>& queries_;
    std::size_t residues_ = 0;
    std::size_t next_;
};

}  // namespace strid::align
