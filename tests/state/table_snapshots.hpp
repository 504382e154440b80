// SPDX-License-Identifier: Apache-2.0
//
// Snapshots of tables by key, whole ones and those of changes, with random texts in the place of
// keys and states; and how each is to be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/state/bytes.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "snapshot_files.hpp"

namespace strid::test {

/// The bytes of a table by parts: one for each snapshot from the last whole one on.
using Table = std::vector<std::string>;

/// A node of two operators, of which one has two tables and one has one; and one that ends.
class Chain {
  public:
    explicit Chain(std::uint64_t seed) : random_(seed) {}

    /// Each snapshot, and how it is to be read.
    struct Next {
        Snapshot snapshot;
        std::string state;
        std::vector<std::uint64_t> operator_bytes;
    };
    Next next(bool changes) {
        Next next;
        next.snapshot = snapshot_of(++number_);
        next.snapshot.description.nodes.resize(2);
        next.snapshot.description.builds_on = changes ? number_ - 1 : 0;
        SnapshotNode& node = next.snapshot.description.nodes[0];
        node.operators = {"first", "second"};
        std::string stored;
        for (const int of_operator : {0, 0, 1}) {
            begin_operator(of_operator, stored, next, node);
            add_rest(stored, next.state);
            // Any table may be whole where others are not.
            const bool is_change = changes && random_() % 4 != 0;
            Table& table = tables_[node.tables.size()];
            if (!is_change) table.clear();
            table.push_back(text() + '.');
            const std::string bytes = is_change ? table.back() : number_bytes(1) + table.back();
            node.tables.push_back({stored.size(), bytes.size(), is_change});
            stored += bytes;
            next.state += number_bytes(table.size());
            for (const std::string& part : table) next.state += part;
        }
        begin_operator(2, stored, next, node);
        add_rest(stored, next.state);
        ended_ = ended_ || random_() % 10 == 0;
        next.snapshot.description.nodes[1] = {.operators = {"ends"}, .has_ended = ended_};
        next.snapshot.states = {StateBytes{bytes_of(stored)}, StateBytes{}};
        if (!ended_) {
            next.snapshot.states[1] = StateBytes{bytes_of("so far")};
            next.snapshot.description.nodes[1].operator_bytes = {6};
        }
        return next;
    }

  private:
    std::string text() {
        return std::string(random_() % 50, static_cast<char>('a' + random_() % 26));
    }
    void add_rest(std::string& stored, std::string& state) {
        const std::string rest = text();
        stored += rest;
        state += rest;
    }
    /// The operator before has all bytes so far.
    void begin_operator(int number, const std::string& stored, Next& next, SnapshotNode& node) {
        if (node.operator_bytes.size() == static_cast<std::size_t>(number)) return;
        std::uint64_t before = 0;
        std::uint64_t before_joined = 0;
        for (const std::uint64_t bytes : node.operator_bytes) before += bytes;
        for (const std::uint64_t bytes : next.operator_bytes) before_joined += bytes;
        node.operator_bytes.push_back(stored.size() - before);
        next.operator_bytes.push_back(next.state.size() - before_joined);
    }

    std::mt19937_64 random_;
    std::uint64_t number_ = 0;
    std::map<std::size_t, Table> tables_;
    bool ended_ = false;
};

inline void expect_whole(const Snapshot& found, const Chain::Next& expected) {
    ASSERT_EQ(found.description.number, expected.snapshot.description.number);
    EXPECT_EQ(found.description.builds_on, 0U);
    EXPECT_EQ(text_of(found.states.front()), expected.state);
    const SnapshotNode& node = found.description.nodes.front();
    EXPECT_EQ(node.operator_bytes, expected.operator_bytes);
    EXPECT_EQ(node.state_bytes, expected.state.size());
    ASSERT_EQ(node.tables.size(), 3U);
    for (const SnapshotTable& table : node.tables) EXPECT_FALSE(table.has_changes_only);
    EXPECT_EQ(text_of(found.states.at(1)), text_of(expected.snapshot.states.at(1)));
}

}  // namespace strid::test
