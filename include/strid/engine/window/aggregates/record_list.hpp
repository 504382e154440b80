// SPDX-License-Identifier: Apache-2.0
//
// Lists of records that come and go with the panes of windows: a list that ends leaves its memory
// to the pool that it came from, so that windows of full content allocate nothing in the long run.
//
// Threads: one. A pool outlives its lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace strid::window {

template <class T>
class RecordPool {
  public:
    [[nodiscard]] std::vector<T> take() {
        if (free_.empty()) return {};
        std::vector<T> records = std::move(free_.back());
        free_.pop_back();
        return records;
    }
    void give_back(std::vector<T>&& records) {
        records.clear();
        free_.push_back(std::move(records));
    }

  private:
    std::vector<std::vector<T>> free_;
};

/// Records in the order in which they came. A list without a pool is a plain vector.
template <class T>
class RecordList {
  public:
    RecordList() = default;
    explicit RecordList(RecordPool<T>& pool) : records_(pool.take()), pool_(&pool) {}
    RecordList(const RecordList& other) : pool_(other.pool_) {
        if (pool_ != nullptr) records_ = pool_->take();
        records_ = other.records_;
    }
    RecordList(RecordList&& other) noexcept
        : records_(std::move(other.records_)), pool_(std::exchange(other.pool_, nullptr)) {}
    RecordList& operator=(RecordList other) noexcept {
        std::swap(records_, other.records_);
        std::swap(pool_, other.pool_);
        return *this;
    }
    ~RecordList() {
        if (pool_ != nullptr && records_.capacity() != 0) pool_->give_back(std::move(records_));
    }

    void add(const T& record) { records_.push_back(record); }
    /// Puts a record behind those that are not `later` than it, which stand first: few are behind
    /// it where records come nearly in order.
    template <class Later>
    void add_in_order(const T& record, const Later& later) {
        records_.insert(std::partition_point(records_.begin(), records_.end(),
                                             [&](const T& one) { return !later(one, record); }),
                        record);
    }
    void append(const RecordList& newer) {
        records_.insert(records_.end(), newer.records_.begin(), newer.records_.end());
    }

    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
    [[nodiscard]] auto begin() const noexcept { return records_.begin(); }
    [[nodiscard]] auto end() const noexcept { return records_.end(); }

    auto state() { return std::tie(records_); }

  private:
    std::vector<T> records_;
    RecordPool<T>* pool_ = nullptr;
};

}  // namespace strid::window
