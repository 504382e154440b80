// SPDX-License-Identifier: Apache-2.0
#include "snapshot_chain.hpp"

#include <cstdint>
#include <cstring>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>

#include "snapshot_file.hpp"

namespace strid {

namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void refuse_table(std::string_view fault) {
    throw StateError(fmt::format("the snapshot is damaged: {}", fault));
}

Bytes bytes_of(const StateInFile& file, std::size_t table) {
    if (table >= file.node->tables.size()) refuse_table("a table is missing");
    const SnapshotTable& place = file.node->tables[table];
    if (place.bytes == 0 || place.begin > file.bytes.size() ||
        place.bytes > file.bytes.size() - place.begin) {
        refuse_table("a table does not fit into its state");
    }
    return file.bytes.subspan(place.begin, place.bytes);
}

/// Appends the table, of the last file that has it whole and of those behind that.
void append_table(std::span<const StateInFile> chain, std::size_t table,
                  std::vector<std::byte>& all) {
    std::size_t first = chain.size() - 1;
    while (chain[first].node->tables.at(table).has_changes_only) {
        if (first == 0) refuse_table("the changes of a table build on nothing");
        --first;
        if (table >= chain[first].node->tables.size()) refuse_table("a table is missing");
    }
    const std::size_t begin = all.size();
    for (std::size_t i = first; i != chain.size(); ++i) {
        const Bytes bytes = bytes_of(chain[i], table);
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    std::uint64_t snapshots = 0;
    if (bytes_of(chain[first], table).size() < sizeof snapshots)
        refuse_table("a table is too short");
    std::memcpy(&snapshots, all.data() + begin, sizeof snapshots);
    snapshots += chain.size() - 1 - first;
    std::memcpy(all.data() + begin, &snapshots, sizeof snapshots);
}

SnapshotDescription read_description(SnapshotFileReader& file, std::uint64_t number) {
    const auto block = file.block();
    StateReader reader{block};
    auto description = state::loaded<SnapshotDescription>(reader);
    reader.expect_end();
    if (description.number != number) throw StateError("it has another number inside");
    return description;
}

}  // namespace

StateBytes joined_state(std::span<const StateInFile> chain, SnapshotNode& node) {
    const StateInFile last{&node, chain.back().bytes};
    std::size_t most = 0;
    for (const StateInFile& file : chain) most += file.bytes.size();
    std::vector<std::byte> all;
    all.reserve(most);
    std::size_t taken = 0;
    const auto take_up_to = [&](std::size_t end) {
        if (end < taken || end > last.bytes.size()) refuse_table("its tables overlap");
        const Bytes bytes = last.bytes.subspan(taken, end - taken);
        all.insert(all.end(), bytes.begin(), bytes.end());
        taken = end;
    };
    std::vector<SnapshotTable> tables;
    for (std::size_t i = 0; i != node.tables.size(); ++i) {
        const std::size_t end = node.tables[i].begin + bytes_of(last, i).size();
        take_up_to(node.tables[i].begin);
        const std::size_t begin = all.size();
        append_table(chain, i, all);
        tables.push_back({begin, all.size() - begin, false});
        taken = end;
    }
    take_up_to(last.bytes.size());
    std::size_t table = 0;
    std::uint64_t part_end = 0;
    for (std::uint64_t& bytes : node.operator_bytes) {
        part_end += bytes;
        for (; table != tables.size() && node.tables[table].begin < part_end; ++table) {
            bytes += tables[table].bytes - node.tables[table].bytes;
        }
    }
    node.tables = std::move(tables);
    node.state_bytes = all.size();
    return StateBytes{std::move(all)};
}

Snapshot joined(std::vector<Snapshot> chain) {
    if (chain.empty() || chain.front().description.builds_on != 0) {
        throw StateError("a chain of snapshots begins with one that is not whole");
    }
    for (std::size_t i = 1; i != chain.size(); ++i) {
        if (chain[i].description.builds_on == chain[i - 1].description.number) continue;
        throw StateError("a snapshot builds on another one than that before it");
    }
    Snapshot& last = chain.back();
    for (std::size_t i = 0; i != last.states.size(); ++i) {
        std::vector<StateInFile> files;
        if (last.description.nodes.at(i).has_ended) continue;
        for (Snapshot& one : chain) {
            if (one.states.size() != last.states.size()) refuse_table("a node is missing");
            files.push_back({&one.description.nodes.at(i), one.states[i].whole()});
        }
        SnapshotNode node = last.description.nodes[i];
        StateBytes state = joined_state(files, node);
        last.states[i] = std::move(state);
        last.description.nodes[i] = std::move(node);
    }
    last.description.builds_on = 0;
    return std::move(last);
}

/// The files of a snapshot and of those that it builds on, each read up to the same node. A fault
/// of one that it builds on names that one.
class SnapshotFiles::Chain {
  public:
    Chain(const SnapshotFiles& files, std::uint64_t number) {
        for (std::uint64_t next = number; next != 0;) {
            const bool is_last = links_.empty();
            const auto opened = [&]() -> SnapshotFileReader {
                try {
                    return {files.open(next), files.file_of(next)};
                } catch (const InputOutputError&) {
                    if (is_last || files.is_there(next)) throw;
                    throw StateError("it is not there");
                }
            };
            checked(next, is_last, [&] {
                SnapshotFileReader file = opened();
                SnapshotDescription description = read_description(file, next);
                if (description.builds_on >= next) throw StateError("it builds on a later one");
                links_.push_front({std::move(file), std::move(description)});
            });
            next = links_.front().description.builds_on;
        }
    }

    [[nodiscard]] std::vector<std::uint64_t> numbers() const {
        std::vector<std::uint64_t> numbers;
        for (const Link& link : links_) numbers.push_back(link.description.number);
        return numbers;
    }
    [[nodiscard]] Snapshot read() {
        Snapshot snapshot{links_.back().description, {}};
        const std::size_t nodes = snapshot.description.nodes.size();
        for (std::size_t i = 0; i != nodes; ++i) {
            snapshot.states.push_back(state(i, nodes, snapshot.description.nodes[i]));
        }
        for (Link& link : links_) {
            checked(link, [&] { link.file.expect_end(); });
        }
        snapshot.description.builds_on = 0;
        return snapshot;
    }

  private:
    struct Link {
        SnapshotFileReader file;
        SnapshotDescription description;
    };

    template <class Read>
    static void checked(std::uint64_t number, bool is_last, const Read& read) {
        try {
            read();
        } catch (const StateError& error) {
            if (is_last) throw;
            throw StateError(fmt::format("it builds on {}: {}", name_of(number), error.what()));
        }
    }
    template <class Read>
    void checked(const Link& link, const Read& read) const {
        checked(link.description.number, &link == &links_.back(), read);
    }

    [[nodiscard]] StateBytes state(std::size_t place, std::size_t nodes, SnapshotNode& node) {
        std::vector<std::vector<std::byte>> blocks;
        std::vector<StateInFile> files;
        for (Link& link : links_) {
            checked(link, [&] {
                if (link.description.nodes.size() != nodes) throw StateError("it has other nodes");
                const SnapshotNode& there = link.description.nodes[place];
                if (there.has_ended != node.has_ended && there.has_ended) {
                    throw StateError("a node had ended");
                }
                if (there.has_ended) return;
                auto block = link.file.block();
                if (block.size() != there.state_bytes) {
                    throw StateError("the snapshot is damaged: a state is not as long as it was");
                }
                if (node.has_ended) return;
                blocks.push_back(std::move(block));
                files.push_back({&there, blocks.back()});
            });
        }
        if (files.empty()) return {};
        if (files.size() == 1) return StateBytes{std::move(blocks.front())};
        return joined_state(files, node);
    }

    std::deque<Link> links_;  // oldest first
};

std::vector<std::uint64_t> SnapshotFiles::chain_of(std::uint64_t number) const {
    return Chain(*this, number).numbers();
}

Snapshot SnapshotFiles::read(std::uint64_t number) const {
    return Chain(*this, number).read();
}

SnapshotDescription SnapshotFiles::describe(std::uint64_t number) const {
    SnapshotFileReader file(open(number), file_of(number));
    return read_description(file, number);
}

}  // namespace strid
