// SPDX-License-Identifier: Apache-2.0
//
// Whose open windows are to be given before they are complete: the keys that have changed, and when
// it is time. The clock is read where a first key has changed, and once a run after that.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/window/update.hpp>

namespace strid::window {

/// `Entry` is that of a KeyedState whose state has a member `awaits_early`. A key that expires and
/// is used again may stand here twice: the second time it no longer awaits anything.
template <class Entry>
class EarlyKeys {
  public:
    explicit EarlyKeys(const UpdateOptions& options) : every_ns_(options.early_every.count()) {}

    [[nodiscard]] bool on() const noexcept { return every_ns_ != 0; }

    /// The key has changed.
    void changed(Entry& key) {
        if (key.state.awaits_early) return;
        key.state.awaits_early = true;
        if (keys_.empty()) due_ns_ = now_ns() + every_ns_;
        keys_.push_back(&key);
    }

    /// Gives `write` each key that has changed, where it is time, while there is room. True once
    /// all are done.
    template <class Write>
    bool write(auto& emit, const Write& write) {
        if (keys_.empty()) return true;
        if (next_ == 0 && now_ns() < due_ns_) return true;
        for (; next_ != keys_.size(); ++next_) {
            if (!emit.room()) return false;
            Entry& key = *keys_[next_];
            if (!key.state.awaits_early) continue;
            key.state.awaits_early = false;
            write(key);
        }
        keys_.clear();
        next_ = 0;
        return true;
    }

    /// When `write` is to be called; 0: not before a key has changed.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return keys_.empty() ? 0 : due_ns_; }

  private:
    std::int64_t every_ns_;
    std::int64_t due_ns_ = 0;
    std::vector<Entry*> keys_;
    std::size_t next_ = 0;  // of the keys, while they are written
};

struct NoEarlyKeys {
    explicit NoEarlyKeys(const WindowOptions& /*options*/) {}
};

}  // namespace strid::window
