// SPDX-License-Identifier: Apache-2.0
#include "state_text.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/time.hpp>
#include <strid/base/time_text.hpp>
#include <strid/engine/base/terminal.hpp>

#include "checkpoint_files.hpp"

namespace strid::tool {

namespace {

std::string printable(std::string_view text) {
    constexpr unsigned char space = 0x20;
    constexpr unsigned char del = 0x7f;
    std::string result(text);
    for (char& letter : result) {
        const auto code = static_cast<unsigned char>(letter);
        if (code < space || code == del) letter = '?';
    }
    return result;
}

/// "2024-03-31T01:30:00Z": the second in which it was taken.
std::string time_text(std::int64_t taken_ns) {
    constexpr std::int64_t second_ns = 1'000'000'000;
    const std::int64_t ns = std::max<std::int64_t>(taken_ns, 0);
    std::string text;
    append_time(text, EventTime::of_ns(ns - ns % second_ns),
                {.kind = TimeForm::Kind::date, .offset = TimeForm::Offset::z}, {});
    return text;
}

std::string bytes_text(std::uint64_t bytes) {
    return format_count(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// Of an operator without a state: none, or a tuple of nothing.
bool has_state(const SnapshotNode& node, std::size_t index) {
    return index < node.types.size() && !node.types[index].empty() &&
           node.types[index] != "std::tuple<>";
}

/// The replicas of the same operators, which follow each other.
std::string replicas_text(std::span<const SnapshotNode> replicas) {
    const SnapshotNode& first = replicas.front();
    std::string text = printable(fmt::format("{}", fmt::join(first.operators, ", "))) + '\n';
    for (const SnapshotNode& node : replicas) {
        text += fmt::format("  replica {} of {}: {}\n", node.replica + 1, node.parallelism,
                            node.has_ended ? "has ended" : bytes_text(node.state_bytes));
    }
    for (std::size_t i = 0; i != first.operators.size(); ++i) {
        if (!has_state(first, i)) continue;
        std::uint64_t bytes = 0;
        for (const SnapshotNode& node : replicas) {
            if (i < node.operator_bytes.size()) bytes += node.operator_bytes[i];
        }
        text += printable(fmt::format("  {}: {}, {}", first.operators[i], bytes_text(bytes),
                                      first.types[i])) +
                '\n';
    }
    return text;
}

}  // namespace

std::string list_header() {
    return "  snapshot  taken                 run      nodes  bytes of state  bytes of file\n";
}

std::string list_line(const SnapshotDescription& description, std::uint64_t file_bytes) {
    std::string more;
    if (description.builds_on != 0) {
        more = fmt::format("  changes since {}", description.builds_on);
    }
    if (!description.checkpoints.empty()) {
        std::uint64_t bytes = 0;
        for (const SnapshotCheckpoint& one : description.checkpoints) bytes += bytes_of(one);
        more += fmt::format("  and {} in stores", bytes_text(bytes));
    }
    return fmt::format("{:>10}  {}  {:<7}  {:>5}  {:>14}  {:>13}{}\n", description.number,
                       time_text(description.taken_ns),
                       description.is_finished ? "ended" : "goes on", description.nodes.size(),
                       format_count(description.state_bytes), format_count(file_bytes), more);
}

std::string list_line(std::uint64_t number, std::string_view fault) {
    return fmt::format("{:>10}  {}\n", number, fault);
}

std::string description_text(const SnapshotDescription& description, const std::string& file,
                             std::uint64_t file_bytes) {
    std::string text = fmt::format(
        "{}\ngraph    {}\nprogram  Strid {}\ntaken    {}\nrun      {}\n"
        "state    {} in {} nodes; the file has {}\n{}\n",
        file, printable(description.graph), printable(description.program),
        time_text(description.taken_ns),
        description.is_finished ? "has reached its end" : "goes on from here",
        bytes_text(description.state_bytes), description.nodes.size(), bytes_text(file_bytes),
        description.builds_on == 0
            ? ""
            : fmt::format("         of tables by key what has changed since {}\n",
                          SnapshotFiles::name_of(description.builds_on)));
    std::span<const SnapshotNode> left = description.nodes;
    while (!left.empty()) {
        const auto others =
            std::find_if(left.begin() + 1, left.end(), [&left](const SnapshotNode& node) {
                return node.replica == 0 || node.operators != left.front().operators;
            });
        const auto count = static_cast<std::size_t>(others - left.begin());
        text += replicas_text(left.first(count));
        left = left.subspan(count);
    }
    if (!description.checkpoints.empty()) text += "\ncheckpoints of stores\n";
    for (const SnapshotCheckpoint& one : description.checkpoints) {
        text += "  " + checkpoint_text(one) + '\n';
    }
    const auto results = result_files(description);
    if (!results.empty()) text += "\nresults\n";
    for (const ResultFile& result : results) text += "  " + result_text(result) + '\n';
    return text;
}

std::string checkpoint_text(const SnapshotCheckpoint& checkpoint) {
    const auto& [folder, files] = checkpoint.where;
    std::string text =
        printable(checkpoint.operator_name) + fmt::format(", replica {}: ", checkpoint.replica + 1);
    if (folder.empty()) return text + "in a store of the program";
    text += fmt::format("{} in {} file{}, in {}", bytes_text(bytes_of(checkpoint)), files.size(),
                        files.size() == 1 ? "" : "s", printable(folder));
    if (const auto fault = fault_of(checkpoint); !fault.empty()) {
        text += " (" + printable(fault) + ')';
    }
    return text;
}

std::string result_text(const ResultFile& result) {
    std::string text = printable(result.path) + ": " + bytes_text(result.bytes);
    if (result.is_table) text += " that go into the table before others";
    if (!result.beside.empty()) text += ", in " + printable(result.beside);
    if (!result.fault.empty()) text += " (" + printable(result.fault) + ')';
    return text;
}

}  // namespace strid::tool
