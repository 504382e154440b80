// SPDX-License-Identifier: Apache-2.0
//
// Stores of states in memory, with the checkpoints that outlive them. Any thread, under one lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <strid/state/bytes.hpp>
#include <strid/state/cold_store.hpp>

namespace strid::test {

class MemoryStores final : public ColdStores {
    using Entries = std::map<std::string, std::string>;
    using Name =
        std::tuple<std::string, std::uint64_t, std::uint64_t>;  // operator, replica, number

  public:
    /// Is called before each call of a store: it may throw.
    std::function<void()> before_each = [] {};
    /// Before each checkpoint: it may throw.
    std::function<void()> before_checkpoint = [] {};

    [[nodiscard]] std::unique_ptr<ColdStore> open(const ColdStorePlace& place) override {
        return std::make_unique<Store>(*this, place);
    }
    [[nodiscard]] std::string fault_of(const SnapshotCheckpoint& named,
                                       std::uint64_t snapshot) const override {
        const std::lock_guard lock(mutex_);
        return checkpoints_.contains({named.operator_name, named.replica, snapshot})
                   ? ""
                   : "there is no such checkpoint";
    }
    /// Those of one replica are gone.
    void lose(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        const auto lost = std::ranges::find_if(checkpoints_, [&](const auto& checkpoint) {
            return std::get<2>(checkpoint.first) == number;
        });
        if (lost != checkpoints_.end()) checkpoints_.erase(lost);
    }
    /// Of all operators and replicas.
    [[nodiscard]] std::set<std::uint64_t> checkpoints() {
        const std::lock_guard lock(mutex_);
        std::set<std::uint64_t> numbers;
        for (const auto& [name, entries] : checkpoints_) numbers.insert(std::get<2>(name));
        return numbers;
    }
    [[nodiscard]] std::uint64_t reads() {
        const std::lock_guard lock(mutex_);
        return reads_;
    }

  private:
    static std::string text_of(ColdStore::Bytes bytes) {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    static ColdStore::Bytes bytes_of(const std::string& text) {
        return std::as_bytes(std::span(text));
    }

    class Cursor final : public ColdStore::Cursor {
      public:
        explicit Cursor(Entries entries) : entries_(std::move(entries)), next_(entries_.begin()) {}
        bool next() override {
            if (next_ == entries_.end()) return false;
            at_ = next_++;
            return true;
        }
        [[nodiscard]] ColdStore::Bytes key() const override { return bytes_of(at_->first); }
        [[nodiscard]] ColdStore::Bytes state() const override { return bytes_of(at_->second); }

      private:
        Entries entries_;
        Entries::iterator at_;
        Entries::iterator next_;
    };

    class Store final : public ColdStore {
      public:
        Store(MemoryStores& all, const ColdStorePlace& place) : all_(all), place_(place) {}

        void read(std::span<const Bytes> keys, const Found& found) override {
            const auto lock = begin();
            for (std::size_t i = 0; i != keys.size(); ++i) {
                ++all_.reads_;
                const auto entry = entries_.find(text_of(keys[i]));
                if (entry != entries_.end()) found(i, bytes_of(entry->second));
            }
        }
        void write(std::span<const Change> changes) override {
            const auto lock = begin();
            for (const Change& change : changes) {
                if (change.state) {
                    entries_[text_of(change.key)] = text_of(*change.state);
                } else {
                    entries_.erase(text_of(change.key));
                }
            }
        }
        std::unique_ptr<ColdStore::Cursor> all() override {
            const auto lock = begin();
            return std::make_unique<MemoryStores::Cursor>(entries_);
        }
        CheckpointFiles checkpoint(std::uint64_t snapshot) override {
            all_.before_checkpoint();
            const auto lock = begin();
            all_.checkpoints_[{place_.operator_name, place_.replica, snapshot}] = entries_;
            return {};
        }
        void restore(const Checkpoint& from) override {
            const auto lock = begin();
            if (!entries_.empty()) throw std::logic_error("the store is not empty");
            entries_ = found(from);
        }
        std::unique_ptr<ColdStore::Cursor> read_checkpoint(const Checkpoint& from) override {
            const auto lock = begin();
            return std::make_unique<MemoryStores::Cursor>(found(from));
        }
        void drop_checkpoint(std::uint64_t snapshot) override {
            const auto lock = begin();
            all_.checkpoints_.erase({place_.operator_name, place_.replica, snapshot});
        }
        void keep_checkpoints(std::span<const std::uint64_t> snapshots) override {
            const auto lock = begin();
            std::erase_if(all_.checkpoints_, [&](const auto& checkpoint) {
                const auto& [name, replica, number] = checkpoint.first;
                const bool is_mine =
                    replica == place_.replica || (replica >= place_.parallelism &&
                                                  replica % place_.parallelism == place_.replica);
                return name == place_.operator_name && is_mine &&
                       std::find(snapshots.begin(), snapshots.end(), number) == snapshots.end();
            });
        }

      private:
        std::unique_lock<std::mutex> begin() {
            all_.before_each();
            return std::unique_lock(all_.mutex_);
        }
        const Entries& found(const Checkpoint& from) {
            const auto entry =
                all_.checkpoints_.find({place_.operator_name, from.replica, from.snapshot});
            if (entry == all_.checkpoints_.end()) throw StateError("there is no such checkpoint");
            return entry->second;
        }

        MemoryStores& all_;
        ColdStorePlace place_;
        Entries entries_;
    };

    mutable std::mutex mutex_;
    std::map<Name, Entries> checkpoints_;
    std::uint64_t reads_ = 0;
};

}  // namespace strid::test
