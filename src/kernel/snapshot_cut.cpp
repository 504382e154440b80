// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/engine/kernel/snapshot_cut.hpp>

namespace strid::operators {

std::vector<std::uint64_t> part_sizes(const StateBytes& state, std::size_t operators) {
    const std::size_t count = operators + 1;
    const std::size_t ends_bytes = count * sizeof(std::uint64_t);
    if (state.size() < ends_bytes) throw StateError("the saved state is damaged: it is too short");
    const std::size_t all = state.size() - ends_bytes;
    const std::vector<std::byte> last = state.last(ends_bytes);
    StateReader ends{last};
    std::vector<std::uint64_t> sizes;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i != count; ++i) {
        const std::uint64_t end = ends.number();
        if (end < begin || end > all || (i + 1 == count && end != all)) {
            throw StateError("the saved state is damaged: its parts do not fit");
        }
        sizes.push_back(end - begin);
        begin = end;
    }
    return sizes;
}

std::vector<std::span<const std::byte>> parts_of_state(StateBytes& state, std::size_t operators) {
    std::vector<std::span<const std::byte>> parts;
    std::span<const std::byte> left = state.whole();
    for (const std::uint64_t size : part_sizes(state, operators)) {
        parts.push_back(left.first(size));
        left = left.subspan(size);
    }
    return parts;
}

void PartBefore::expect_end() const {
    for (const StateReader& reader : readers) reader.expect_end();
}

NodeState::NodeState() : writer_(kept_) {}

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

StateBytes NodeState::take() {
    if (sliced_.empty()) {
        for (const End& end : ends_) writer_.number(end.behind);
        writer_.flush();
        return std::move(kept_);
    }
    writer_.flush();
    const std::vector<std::byte> kept = kept_.take();
    StateBytes all;
    std::uint64_t taken = 0;  // of `kept`
    const auto take_up_to = [&](std::uint64_t end) {
        all.receive(std::span(kept).subspan(taken, end - taken));
        taken = end;
    };
    StateBytes ends;
    StateWriter writer(ends);
    std::size_t sliced = 0;
    for (const End& end : ends_) {
        for (; sliced != end.sliced; ++sliced) {
            take_up_to(sliced_[sliced].behind);
            all.add(sliced_[sliced].state->take());
        }
        take_up_to(end.behind);
        writer.number(all.size());
    }
    writer.flush();
    all.add(ends.take());
    return all;
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
