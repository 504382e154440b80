// SPDX-License-Identifier: Apache-2.0
//
// The graph's side of an inlet with a journal: records that were pushed are in the journal before
// they are emitted, and a run that goes on emits those behind its snapshot once more.
//
// The state has the records that were taken and not emitted, so that the place in the journal is
// always between two blocks.
//
// Threads: that of the node, which is one of its own, because it waits for the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/engine/base/type_name.hpp>
#include <strid/engine/state/layouts.hpp>
#include <strid/engine/stream/inlet_journal.hpp>
#include <strid/operator/source.hpp>
#include <strid/state/codec.hpp>
#include <strid/stream/outlet.hpp>

namespace strid::operators {

/// Records can be written to a journal.
template <class T>
consteval bool takes_journal() {
    static_assert(state::has_codec<T>() && std::is_default_constructible_v<T>,
                  "the records of a journalled inlet have a codec (strid/state/codec.hpp) and a "
                  "default constructor: a record that points elsewhere, as to a text, has none");
    return state::has_codec<T>() && std::is_default_constructible_v<T>;
}

template <class T>
class JournalledInletSource {
  public:
    using record_type = T;
    static constexpr SourceTraits traits{.hears = events<Opened, Restored, SnapshotBegins, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks | Has::is_journalled,
                                         .drains = true,
                                         .awaits_outside = true};

    JournalledInletSource(std::shared_ptr<InletState<T>> state, JournalOptions options)
        : state_(std::move(state)),
          options_(std::move(options)),
          graph_(when_gone([state = state_] { state->end_session(); })) {}
    /// A copy of a prototype: a replica begins with nothing taken.
    JournalledInletSource(const JournalledInletSource& other)
        : state_(other.state_), options_(other.options_), graph_(other.graph_) {}
    JournalledInletSource(JournalledInletSource&&) noexcept = default;
    JournalledInletSource& operator=(const JournalledInletSource&) = delete;
    ~JournalledInletSource() = default;

    /// Throws GraphError at a second run, and for a run without snapshots; InputOutputError.
    void on(const Opened& opened) {
        state::Layouts layouts;
        layouts.add<T>();
        state_->begin_session(opened.task);
        // Destroyed with the task: a later close() must not notify it.
        session_ = when_gone([state = state_] { state->end_session(); });
        journal_.emplace(options_, type_name<T>() + layouts.text(), opened.context.run);
        place_ = journal_->place();
        state_->accept(journal_->accepted());
    }
    void on(Restored) {
        journal_->go_on(place_);
        state_->accept(journal_->accepted());
    }
    void on(SnapshotBegins snapshot) {
        // Those before next_ were moved away when they were emitted.
        taken_.erase(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(next_));
        next_ = 0;
        journal_->begin_snapshot(snapshot.number);
    }
    /// Records that were pushed are delivered after it.
    void on(Stopped) noexcept { state_->close(); }
    auto state() { return std::tie(place_, taken_, next_); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (next_ == taken_.size()) {
            const SourceStatus status = take();
            if (status != SourceStatus::more) return status;
        }
        for (; next_ != taken_.size() && budget != 0; --budget) {
            if (!emit(std::move(taken_[next_++]))) return SourceStatus::more;
        }
        return SourceStatus::more;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const { return journal_ ? journal_->wake_at_ns() : 0; }
    [[nodiscard]] bool blocks() const { return true; }
    [[nodiscard]] bool is_journalled() const { return true; }

  private:
    static constexpr std::size_t block_bytes = std::size_t{256} << 10;

    /// The next records to emit, which lie in the journal.
    SourceStatus take() {
        taken_.clear();
        next_ = 0;
        while (const auto found = journal_->read_again()) {
            StateReader reader{found->bytes};
            for (std::size_t i = 0; i != found->count; ++i) {
                taken_.push_back(state::loaded<T>(reader));
            }
            reader.expect_end();
            place_ = journal_->place();
            if (!taken_.empty()) return SourceStatus::more;
        }
        if (arrived_next_ == arrived_.size()) {
            arrived_.clear();
            arrived_next_ = 0;
            const SourceStatus status = state_->take(arrived_);
            if (status != SourceStatus::more) {
                journal_->synchronize_if_due();
                return status;
            }
        }
        return write() ? SourceStatus::more : SourceStatus::held;
    }
    /// Writes a block of those that have arrived; one that would not fit in it begins the next
    /// block. False: there is no room.
    bool write() {
        StateBytes bytes;
        StateWriter writer{bytes};
        writer.number(0);  // room for the header
        std::size_t end = arrived_next_;
        std::size_t whole = 0;  // bytes of the records before the last one
        while (end != arrived_.size() && writer.written() < block_bytes) {
            whole = writer.written();
            state::save(writer, arrived_[end++]);
        }
        writer.flush();
        std::vector<std::byte> block = bytes.take();
        if (block.size() > strid::detail::InletJournal::block_bytes_max &&
            end - arrived_next_ > 1) {
            block.resize(whole);
            --end;
        }
        if (!journal_->append(std::move(block), end - arrived_next_)) return false;
        for (; arrived_next_ != end; ++arrived_next_) {
            taken_.push_back(std::move(arrived_[arrived_next_]));
        }
        place_ = journal_->place();
        state_->accept(journal_->accepted());
        return true;
    }

    std::shared_ptr<InletState<T>> state_;
    JournalOptions options_;
    std::shared_ptr<void> graph_;
    std::shared_ptr<void> session_;
    std::optional<strid::detail::InletJournal> journal_;
    strid::detail::InletJournal::Place place_;  // behind those that are taken
    std::vector<T> taken_;
    std::size_t next_ = 0;
    std::vector<T> arrived_;  // not in the journal yet, from arrived_next_ on
    std::size_t arrived_next_ = 0;
};

}  // namespace strid::operators
