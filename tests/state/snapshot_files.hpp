// SPDX-License-Identifier: Apache-2.0
//
// Snapshots for the tests of their folder, and their files as bytes. The format is written down
// here a second time: a first line, then blocks with three numbers in front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/state/snapshot_folder.hpp>

#include "../support/folder.hpp"

namespace strid::test {

inline std::vector<std::byte> bytes_of(std::string_view text) {
    std::vector<std::byte> bytes(text.size());
    if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

/// Three nodes: one has ended, one has an empty state.
inline Snapshot snapshot_of(std::uint64_t number, std::string_view state = "the state") {
    Snapshot snapshot;
    snapshot.description = {.number = number,
                            .taken_ns = 1'700'000'000'000'000'000,
                            .graph = "readings",
                            .program = "0.1.0",
                            .nodes = {{.operators = {"read", "sum"}, .types = {"Source", "Sum"}},
                                      {.operators = {"write"}, .replica = 1, .parallelism = 2},
                                      {.operators = {"ended"}, .has_ended = true}},
                            .results = {{"out.csv", bytes_of("how to go on")}},
                            .checkpoints = {{.operator_name = "sum",
                                             .replica = 1,
                                             .where = {"states/sum/1/0000000001",
                                                       {{"CURRENT", 16}, {"000009.sst", 8'000}}}}}};
    snapshot.states = {StateBytes{bytes_of(state)}, {}, {}};
    return snapshot;
}

/// All that a snapshot says, as one text.
inline std::string text_of(const SnapshotDescription& description) {
    std::string text = std::to_string(description.number) + '|' +
                       std::to_string(description.taken_ns) + '|' + description.graph + '|' +
                       description.program + '|' + std::to_string(description.is_finished) + '|' +
                       std::to_string(description.state_bytes);
    for (const SnapshotNode& node : description.nodes) {
        text += "|node";
        for (const std::string& name : node.operators) text += ' ' + name;
        for (const std::string& type : node.types) text += " of " + type;
        text += ' ' + std::to_string(node.replica) + '/' + std::to_string(node.parallelism) + ' ' +
                std::to_string(node.has_ended) + ' ' + std::to_string(node.state_bytes);
    }
    for (const auto& [name, bytes] : description.results) {
        text += '|' + name + '=' +
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    for (const SnapshotCheckpoint& one : description.checkpoints) {
        text +=
            '|' + one.operator_name + ' ' + std::to_string(one.replica) + " in " + one.where.folder;
        for (const auto& [name, size] : one.where.files) text += ' ' + name + std::to_string(size);
    }
    return text;
}
inline std::string text_of(const StateBytes& state) {
    std::string text;
    for (const auto& piece : state.pieces()) {
        text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    return text;
}
inline std::string text_of(const Snapshot& snapshot) {
    std::string text = text_of(snapshot.description);
    for (const StateBytes& state : snapshot.states) text += '|' + text_of(state);
    return text;
}

inline std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_content(const std::filesystem::path& file, std::string_view content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

/// CRC-32 as its definition has it, bit by bit.
inline std::uint32_t crc_32(std::string_view bytes) {
    std::uint32_t crc = 0xffffffffU;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit != 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
    }
    return ~crc;
}

inline std::string number_bytes(std::uint64_t number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

/// A block with a right checksum, whatever it announces and has.
inline std::string block_of(std::uint64_t announced, std::string_view stored) {
    const std::string lengths = number_bytes(announced) + number_bytes(stored.size());
    return lengths + number_bytes(crc_32(lengths + std::string(stored))) + std::string(stored);
}

/// A frame of zstd that announces so many bytes and has one block without any.
inline std::string empty_frame_of(std::uint64_t announced) {
    constexpr std::string_view magic("\x28\xb5\x2f\xfd", 4);
    constexpr std::string_view one_segment_and_eight_bytes_of_length("\xe0", 1);
    constexpr std::string_view last_and_empty("\x01\x00\x00", 3);
    return std::string(magic) + std::string(one_segment_and_eight_bytes_of_length) +
           number_bytes(announced) + std::string(last_and_empty);
}

/// A folder for snapshots, which is not there yet.
class SnapshotsOfTest : public testing::Test {
  protected:
    [[nodiscard]] std::filesystem::path file(std::uint64_t number) const {
        return std::filesystem::path(path) / SnapshotFiles::name_of(number);
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            found.push_back(entry.path().filename());
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    [[nodiscard]] SnapshotWarning warn() {
        return [this](const std::string& text) { warnings.push_back(text); };
    }

    Folder parent;
    std::string path = parent.file("state");
    std::vector<std::string> warnings;
};

template <class Failure, class Call>
std::string message_of(const Call& call) {
    try {
        call();
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "no failure";
}

/// The snapshot as store() completes it.
inline Snapshot stored(Snapshot snapshot) {
    snapshot.description.state_bytes = 0;
    for (std::size_t i = 0; i != snapshot.states.size(); ++i) {
        snapshot.description.nodes[i].state_bytes = snapshot.states[i].size();
        snapshot.description.state_bytes += snapshot.states[i].size();
    }
    return snapshot;
}

/// Runs `body` in a process of its own; its result, 0 to 100.
inline int in_another_process(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            ::_exit(body());
        } catch (...) {
            ::_exit(101);
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace strid::test
