// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/operator_table.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/runtime/wake.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

Node::Node(const NodePlace& place, const NodeTraits& traits)
    : names_(place.names),
      counts_(names_.size()),
      replica_(place.replica),
      parallelism_(place.parallelism),
      counters_(names_.size()),
      traits_(traits) {
    operators_.reserve(names_.size());
}

Node::~Node() = default;

// ---- events -------------------------------------------------------------------------------------

template <class Event>
void Node::notify_all(Hook<Event> hook, const Event& event) {
    for (std::size_t i = 0; i != operators_.size(); ++i) {
        const auto [object, table] = operators_[i];
        if (const auto notify = table->*hook; notify != nullptr) {
            guarded(names_[i], [&, one = object] { notify(one, event); });
        }
    }
}

void Node::bring_tasks(const RunShape& shape, runtime::Task& task,
                       std::vector<runtime::Task*>& tasks) {
    for (std::size_t i = 0; i != operators_.size(); ++i) {
        const NodeOperator& one = operators_[i];
        if (one.table->bring_tasks == nullptr) continue;
        const Context own = context(i);
        const TasksWanted wanted{own, task, shape.workers, shape.perturbed, tasks};
        guarded(names_[i], [&] { one.table->bring_tasks(one.object, wanted); });
    }
}

void Node::open(runtime::Task& task, const std::stop_token& stop) {
    for (std::size_t i = 0; i != operators_.size(); ++i) {
        const NodeOperator& one = operators_[i];
        if (one.table->open == nullptr) continue;
        const Context own = context(i);
        guarded(names_[i], [&] { one.table->open(one.object, Opened{own, task, stop}); });
    }
}

void Node::notify_closed() {
    notify_all(&OperatorTable::close, Closed{});
}

void Node::stop_source() noexcept {
    std::call_once(source_stopped_, [this] {
        const NodeOperator* const one = source();
        if (one != nullptr && one->table->stop != nullptr) one->table->stop(one->object, Stopped{});
    });
}

void Node::cut_off_sink() noexcept {
    if (operators_.empty()) return;
    const auto [object, table] = operators_.back();
    if (table->cut_off != nullptr) table->cut_off(object, CutOff{});
}

void Node::abandon() noexcept {
    if (batch_ != nullptr) link_->give_back(*std::exchange(batch_, nullptr));
}

// ---- what the run asks --------------------------------------------------------------------------

std::int64_t Node::wake_at_ns() const noexcept {
    std::int64_t earliest = 0;
    for (const auto& [object, table] : operators_) {
        if (table->wake_at_ns == nullptr) continue;
        earliest = runtime::earlier_wake(earliest, table->wake_at_ns(object));
    }
    return earliest;
}

bool Node::needs_own_thread() const noexcept {
    return std::any_of(operators_.begin(), operators_.end(), [](const NodeOperator& one) {
        return one.table->blocks != nullptr && one.table->blocks(one.object);
    });
}

double Node::fraction_done() const noexcept {
    const NodeOperator* const one = source();
    if (one == nullptr) return 1;
    return one->table->fraction_done != nullptr ? one->table->fraction_done(one->object) : -1;
}

std::uint64_t Node::bytes_read() const noexcept {
    const NodeOperator* const one = source();
    if (one == nullptr || one->table->bytes_read == nullptr) return 0;
    return one->table->bytes_read(one->object);
}

// ---- snapshots ----------------------------------------------------------------------------------

std::vector<std::string> Node::no_snapshot() const {
    std::vector<std::string> faults;
    for (std::size_t i = 0; i != operators_.size(); ++i) {
        const auto [object, table] = operators_[i];
        const bool is_source = i == 0 && traits_.polls;
        const auto asked = [one = object](bool (*member)(const void*)) {
            return member != nullptr && member(one);
        };
        if (is_source &&
            (!table->allows_snapshots || (asked(table->blocks) && !asked(table->is_journalled)))) {
            faults.push_back(no_position(names_[i]));
        } else if (!table->has_codec) {
            faults.push_back(no_codec(names_[i], table->type()));
        } else if (!table->allows_snapshots) {
            faults.push_back(works_apart_of_state(names_[i]));
        }
    }
    return faults;
}

std::vector<std::string> Node::types_of_state(const std::vector<std::string>& stored) const {
    std::vector<std::string> types;
    for (const NodeOperator& one : operators_) {
        state::Layouts layouts(stored.empty() ? std::string_view{} : stored[types.size()]);
        types.push_back(one.table->layout != nullptr ? one.table->layout(layouts) : std::string{});
    }
    return types;
}

std::vector<bool> Node::merge_state() const {
    std::vector<bool> merge;
    for (const NodeOperator& one : operators_) merge.push_back(one.table->merges_state);
    return merge;
}

const ColdStores* Node::cold_stores(const std::string& operator_name) const {
    for (std::size_t i = 0; i != operators_.size(); ++i) {
        const auto [object, table] = operators_[i];
        if (names_[i] != operator_name || table->cold_stores == nullptr) continue;
        return &table->cold_stores(object);
    }
    return nullptr;
}

bool Node::has_codecs() const noexcept {
    return std::all_of(operators_.begin(), operators_.end(),
                       [](const NodeOperator& one) { return one.table->has_codec; });
}

void Node::begin_snapshot(std::uint64_t number) {
    is_cutting_ = true;
    snapshots_ = number;
    notify_all(&OperatorTable::begin_snapshot, SnapshotBegins{number});
    if (output_ != nullptr) output_->send_records();
    if (!has_codecs()) {
        cut_->saved(place_, {});
        return;
    }
    auto state = std::make_unique<NodeState>(cut_->wanted().saves);
    for (const auto& [object, table] : operators_) {
        if (table->save != nullptr) table->save(object, *state);
        state->end_part();
    }
    // Of a source the two are equal between its polls.
    STRID_ASSERT(!traits_.polls || source_progress_ == progress_);
    state->save(progress_);
    state->save(input_);
    state->end_part();
    saving_ = std::move(state);
    save_slice();
}

void Node::save_slice() {
    if (!saving_->save_slice(cut_->slice_size())) return;
    cut_->saved(place_, saving_->take());
    saving_.reset();
}

bool Node::end_snapshot() {
    if (output_ != nullptr && !output_->send_barriers()) return false;
    is_cutting_ = false;
    input_.release();
    return true;
}

void Node::restore(PartsBefore& before) {
    if (has_codecs()) {
        for (std::size_t i = 0; i != operators_.size(); ++i) {
            restore_operator(i, before.operators[i]);
        }
        load_part(before.input, {replica_, parallelism_}, [&](const auto& load) {
            load(progress_);
            load(input_);
        });
        if (traits_.polls) source_progress_ = progress_;
        // The output tells its consumers where the stream is before the first record.
        advancing_ = progress_ != Progress{};
    }
    for (std::size_t i = 0; i != operators_.size(); ++i) {
        const auto [object, table] = operators_[i];
        // Those that begin anew are as they were opened.
        if (table->restored == nullptr || before.operators[i].readers.empty()) continue;
        guarded(names_[i],
                [one = object, restored = table->restored] { restored(one, Restored{}); });
    }
}

void Node::restore_operator(std::size_t index, PartBefore& part) {
    const auto [object, table] = operators_[index];
    if (table->load == nullptr) return part.expect_end();
    state::Layouts layouts(part.type);
    if (!part.type.empty()) (void)table->layout(layouts);
    for (StateReader& reader : part.readers) reader.use(layouts.versions());
    const KeyShare share{replica_, parallelism_};
    if (part.is_share && table->merges_state) {
        return table->load_merged(object, part, share, names_[index]);
    }
    // Replicas that are more than before would all go on from the state of one.
    if (table->has_state_without_keys && part.is_share && part.readers.size() == 1 &&
        parallelism_ > 1) {
        refuse_other_replicas("one replica had all of it");
    }
    table->load(object, part, share);
}

void Node::restore_as_ended() noexcept {
    ended_ = restored_as_ended_ = true;
    stop_source();  // so that no record is pushed into an inlet and left there
}

}  // namespace strid::operators
