// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/engine/kernel/snapshot_cut.hpp>

namespace strid::operators {

void SavedParts::write_ends(StateWriter& writer) const {
    for (const std::uint64_t end : ends_) writer.number(end);
}

std::vector<std::span<const std::byte>> SavedParts::of(std::span<const std::byte> state,
                                                       std::size_t operators) {
    const std::size_t count = operators + 1;
    const std::size_t ends_bytes = count * sizeof(std::uint64_t);
    if (state.size() < ends_bytes) throw StateError("the saved state is damaged: it is too short");
    const std::size_t all = state.size() - ends_bytes;
    StateReader ends{state.subspan(all)};
    std::vector<std::span<const std::byte>> parts;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i != count; ++i) {
        const std::uint64_t end = ends.number();
        if (end < begin || end > all || (i + 1 == count && end != all)) {
            throw StateError("the saved state is damaged: its parts do not fit");
        }
        parts.push_back(state.subspan(begin, end - begin));
        begin = end;
    }
    return parts;
}

void PartBefore::expect_end() const {
    for (const StateReader& reader : readers) reader.expect_end();
}

NodeState::NodeState() : writer_(kept_) {}

NodeState::~NodeState() = default;

void NodeState::end_part() {
    parts_.end_part(writer_);
}

std::vector<std::byte> NodeState::take() {
    parts_.write_ends(writer_);
    writer_.flush();
    return kept_.take();
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
        "its state is not by key, so that another number of replicas cannot take it over: " + type);
}

std::string no_position(const std::string& name) {
    return fmt::format("operator '{}': what it has emitted cannot be read once more", name);
}

}  // namespace strid::operators
