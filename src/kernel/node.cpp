// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/engine/kernel/node.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

Node::Node(const NodePlace& place)
    : names_(place.names),
      replica_(place.replica),
      parallelism_(place.parallelism),
      counts_(names_.size()),
      counters_(names_.size()) {}

void Node::save_place(std::unique_ptr<NodeState> state, const Progress& progress) {
    state->save(progress);
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

void Node::load_place(PartBefore& part, Progress& progress) {
    load_part(part, {replica_, parallelism_}, [&](const auto& load) {
        load(progress);
        load(input_);
    });
}

}  // namespace strid::operators
