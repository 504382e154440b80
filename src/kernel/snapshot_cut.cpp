// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/engine/kernel/snapshot_cut.hpp>

namespace strid::operators {

std::vector<std::span<const std::byte>> parts_of_state(
    StateBytes& state, std::span<const std::uint64_t> operator_bytes) {
    std::vector<std::span<const std::byte>> parts;
    std::span<const std::byte> left = state.whole();
    for (const std::uint64_t size : operator_bytes) {
        if (size > left.size()) {
            throw StateError("the saved state is damaged: its parts do not fit");
        }
        parts.push_back(left.first(size));
        left = left.subspan(size);
    }
    parts.push_back(left);
    return parts;
}

void PartBefore::expect_end() const {
    for (const StateReader& reader : readers) reader.expect_end();
}

NodeState::NodeState(Saves saves) : saves_(saves), writer_(kept_) {}

NodeState::~NodeState() = default;

void NodeState::end_part() {
    ends_.push_back({writer_.written(), sliced_.size()});
}

void NodeState::add(std::unique_ptr<SlicedState> state) {
    sliced_.push_back({writer_.written(), std::move(state)});
}

bool NodeState::save_slice(const SliceSize& size) {
    while (saved_ != sliced_.size() && sliced_[saved_].state->save_slice(size)) ++saved_;
    return saved_ == sliced_.size();
}

SavedNode NodeState::take() {
    writer_.flush();
    SavedNode node;
    if (sliced_.empty()) {  // no byte is copied
        for (std::uint64_t begin = 0; const End& end : ends_) {
            node.operator_bytes.push_back(end.behind - begin);
            begin = end.behind;
        }
        node.operator_bytes.pop_back();  // that of the input
        node.bytes = std::move(kept_);
        return node;
    }
    const std::vector<std::byte> kept = kept_.take();
    StateBytes& all = node.bytes;
    std::uint64_t taken = 0;  // of `kept`
    const auto take_up_to = [&](std::uint64_t end) {
        all.receive(std::span(kept).subspan(taken, end - taken));
        taken = end;
    };
    std::size_t sliced = 0;
    std::uint64_t part = 0;  // where it begins
    for (const End& end : ends_) {
        for (; sliced != end.sliced; ++sliced) {
            take_up_to(sliced_[sliced].behind);
            SlicedState& state = *sliced_[sliced].state;
            const std::uint64_t begin = all.size();
            all.add(state.take());
            node.tables.push_back({begin, all.size() - begin, state.has_changes_only()});
        }
        take_up_to(end.behind);
        node.operator_bytes.push_back(all.size() - part);
        part = all.size();
    }
    node.operator_bytes.pop_back();  // that of the input
    return node;
}

std::string no_codec(const std::string& name, const std::string& type) {
    return fmt::format(
        "operator '{}': its state cannot be saved, because a part of it has no codec "
        "(strid/state/codec.hpp): {}",
        name, type);
}

std::string works_apart_of_state(const std::string& name) {
    return fmt::format(
        "operator '{}': records, or their effects, are on their way outside of its state", name);
}

void refuse_other_replicas(const std::string& type) {
    throw StateError(
        "its state is not by key, and it has no merge_state() and split_state(), so that another "
        "number of replicas cannot take it over: " +
        type);
}

std::string no_position(const std::string& name) {
    return fmt::format("operator '{}': what it has emitted cannot be read once more", name);
}

}  // namespace strid::operators
