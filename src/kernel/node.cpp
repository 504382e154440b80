// SPDX-License-Identifier: Apache-2.0
#include <strid/engine/kernel/node.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

Node::Node(const NodePlace& place)
    : names_(place.names),
      replica_(place.replica),
      parallelism_(place.parallelism),
      counts_(names_.size()),
      counters_(names_.size()) {}

void Node::save_place(NodeState& state, const Progress& progress, const Progress& source_progress) {
    state::save(state.writer(), progress);
    state::save(state.writer(), source_progress);
    state::save(state.writer(), input_);
    state.end_part();
    cut_->saved(place_, state.take());
}

void Node::load_place(PartBefore& part, Progress& progress, Progress& source_progress) {
    load_part(part, {replica_, parallelism_}, [&](const auto& load) {
        load(progress);
        load(source_progress);
        load(input_);
    });
}

}  // namespace strid::operators
