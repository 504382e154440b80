// SPDX-License-Identifier: Apache-2.0
//
// The part of a table of states by key (operator/keyed_state.hpp) that only snapshots need: the
// entries that the present snapshot is still to save, and the keys that have changed or were
// forgotten since, which are all that the next one has to save.
//
// Where so many have changed that all may as well be saved, they are not listed any more, and the
// next snapshot of the table is whole. Lists are freed slice by slice: they may be long.
//
// Owned by its table. Threads: only the task of the node. Invariant: an entry that the index has
// with the present mark was given it since the last barrier, and is in `changed_` if it lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <utility>

#include <strid/engine/operator/key_index.hpp>
#include <strid/engine/operator/slices.hpp>

namespace strid::operators {

/// Takes an entry as it is, of a table that is being saved.
template <class Entry>
class SavesEntry {
  public:
    SavesEntry() = default;
    SavesEntry(const SavesEntry&) = delete;
    SavesEntry& operator=(const SavesEntry&) = delete;
    /// The entry is about to be changed.
    virtual void save_early(const Entry& entry) noexcept = 0;

  protected:
    ~SavesEntry() = default;
};

/// Keeps the keys that a table has forgotten since a snapshot.
template <class Entry>
class ForgottenKeys {
  public:
    ForgottenKeys() = default;
    ForgottenKeys(const ForgottenKeys&) = delete;
    ForgottenKeys& operator=(const ForgottenKeys&) = delete;
    virtual ~ForgottenKeys() = default;
    /// May throw what a codec throws.
    virtual void add(const Entry& entry) = 0;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

  protected:
    std::size_t count_ = 0;
};

template <class Entry>
class TableChanges {
    using Index = KeyIndex<Entry>;
    using Was = typename Index::Was;

  public:
    /// The extent of the snapshot that begins.
    struct Begun {
        bool has_changes_only = false;
        /// With changes only; null: there are none.
        std::unique_ptr<ForgottenKeys<Entry>> forgotten = nullptr;
    };

    /// A snapshot begins, whose `saver` outlives the last call of save_some(). `forgotten` takes
    /// the keys that are forgotten from now on; null where none is. O(1).
    Begun begin(Saves saves, Index& index, const std::deque<Entry>& entries,
                SavesEntry<Entry>& saver, std::unique_ptr<ForgottenKeys<Entry>> forgotten) {
        const bool has_changes_only = saves == Saves::changes && lists_;
        index.set_apart(!has_changes_only);
        to_save_.swap(changed_);
        forgotten_.swap(forgotten);
        if (!has_changes_only) forgotten = nullptr;
        saver_ = &saver;
        saves_all_ = !has_changes_only;
        next_ = 0;
        end_ = saves_all_ ? entries.size() : to_save_.size();
        lists_ = true;
        return {has_changes_only, std::move(forgotten)};
    }

    /// As KeyedState::save_entries().
    template <bool expires, class Visit>
    [[nodiscard]] bool save_some(std::size_t most, Index& index, const std::deque<Entry>& entries,
                                 const Visit& visit) {
        const std::size_t listed = std::min(most, to_save_.size());
        most = std::min(most, end_ - next_);
        if (saves_all_) {
            const auto first = entries.begin() + static_cast<std::ptrdiff_t>(next_);
            next_ += save_from<expires>(first, most, index, visit);
            to_save_.erase(to_save_.begin(),
                           to_save_.begin() + static_cast<std::ptrdiff_t>(listed));
        } else {
            const std::size_t saved =
                save_from<expires>(Listed{to_save_.begin()}, most, index, visit);
            next_ += saved;
            to_save_.erase(to_save_.begin(), to_save_.begin() + static_cast<std::ptrdiff_t>(saved));
        }
        if (next_ != end_) return false;
        to_save_.clear();
        saver_ = nullptr;
        return true;
    }

    /// A lookup has not found the key among the present entries: the entry, which is present now;
    /// null: the key has none.
    [[nodiscard]] Entry* take_back(Index& index, const decltype(Entry::key)& key,
                                   std::uint64_t hash) noexcept {
        const auto [found, was] = index.take_back(key, hash);
        if (found != nullptr) begin_change(*found, was, index.size());
        return found;
    }
    /// The entry, kept from an earlier event, is about to be changed. It may have expired.
    [[gnu::noinline]] void change(Index& index, Entry& entry) noexcept {
        begin_change(entry, index.take_back(entry), index.size());
    }
    /// A new entry is in the index.
    void add(Entry& entry, std::size_t keys) noexcept { list(entry, keys); }
    /// The entry is about to leave the index; it is present then.
    [[gnu::noinline]] void forget(Index& index, Entry& entry) noexcept {
        if (index.take_back(entry) == Was::apart) saver_->save_early(entry);
        if (!lists_ || forgotten_ == nullptr) return;
        try {
            forgotten_->add(entry);
            bound(index.size());
        } catch (const std::exception&) {
            stop_listing();
        }
    }

  private:
    using List = std::deque<Entry*>;  // does not move when it grows

    /// An iterator over pointers that gives what they point to.
    struct Listed {
        typename List::const_iterator at;
        Listed& operator++() {
            ++at;
            return *this;
        }
        const Entry& operator*() const { return **at; }
        const Entry* operator->() const { return *at; }
    };

    /// Returns how many entries it has gone through.
    template <bool expires, class Iterator, class Visit>
    static std::size_t save_from(Iterator entry, std::size_t most, Index& index,
                                 const Visit& visit) {
        std::size_t done = 0;
        for (bool goes_on = true; goes_on && done != most;) {
            std::size_t some = std::min(most - done, looked_up_at_once);
            auto ahead = entry;
            for (std::size_t i = 0; i != some; ++i, ++ahead) index.prefetch(ahead->hash);
            for (; goes_on && some != 0; --some, ++entry, ++done) {
                const bool is_early = !index.settle(*entry);
                if (expires && is_early) continue;
                goes_on = visit(*entry, is_early);
            }
        }
        return done;
    }

    void begin_change(Entry& entry, Was was, std::size_t keys) noexcept {
        if (was == Was::present || was == Was::gone) return;
        if (was == Was::apart) saver_->save_early(entry);
        list(entry, keys);
    }
    void list(Entry& entry, std::size_t keys) noexcept {
        if (!lists_) return;
        try {
            changed_.push_back(&entry);
            bound(keys);
        } catch (const std::exception&) {
            stop_listing();
        }
    }
    /// Longer lists are not worth their memory: the next change would soon need a whole snapshot.
    void bound(std::size_t keys) noexcept {
        constexpr std::size_t few = 64;
        const std::size_t forgotten = forgotten_ != nullptr ? forgotten_->count() : 0;
        if (changed_.size() + forgotten > few + keys / 4) stop_listing();
    }
    void stop_listing() noexcept {
        lists_ = false;  // the list is freed by the next snapshot
        forgotten_ = nullptr;
    }

    SavesEntry<Entry>* saver_ = nullptr;  // null: nothing is to be saved
    bool saves_all_ = false;
    std::size_t next_ = 0;  // place among the entries, or among those to save
    std::size_t end_ = 0;   // the entries from here on came later
    List to_save_;          // had changed at the barrier
    List changed_;          // since the last barrier, in the order of their first change
    bool lists_ = false;    // false: all are to be saved next
    std::unique_ptr<ForgottenKeys<Entry>> forgotten_;
};

}  // namespace strid::operators
