// SPDX-License-Identifier: Apache-2.0
//
// The rows of files as CSV. Threads of this object decode groups of rows ahead of the one that
// reads; it owns them. Threads: one at a time.
//
// Invariant: the text of a group is given after that of all groups before it, in the order of files
// and of groups in them. The first group that is not given may wait for room by itself alone, and
// the others for all of them, so the reader always comes to an end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <strid/connector/transport.hpp>

#include "table_file.hpp"

namespace strid::parquet {

class FileInput final : public TransportInput {
  public:
    /// Throws GraphError and InputOutputError.
    explicit FileInput(TransportAddress address);
    ~FileInput() override;
    ByteReader::Result read(std::span<char> out, int wait_ms) override;

  private:
    /// A group of rows that is decoded, and then given.
    struct Group {
        std::deque<std::string> texts = {};  // under mutex_, as all of it
        bool is_done = false;
        std::exception_ptr failure = {};
    };
    struct Task {
        std::shared_ptr<Group> group;
        std::shared_ptr<const TableFileInfo> file;  // null: there is no more
        int number = 0;                             // of the group in it
    };

    void choose_columns(TableFileInfo& info);
    void find_columns(TableFileInfo& info) const;
    [[nodiscard]] Task next_task();
    void decode(const std::stop_token& stop);
    void decode_group(const Task& task, std::unique_ptr<TableFile>& file,
                      const std::stop_token& stop);
    [[nodiscard]] bool give(Group& group, std::string& text, const std::stop_token& stop);

    const std::string address_;       // for messages
    std::vector<std::string> names_;  // of the columns
    bool has_all_ = false;            // of a file
    std::vector<std::string> types_;  // of each, by the first file; empty: of the path
    std::vector<InputFile> files_;
    std::string text_;       // that is given now
    std::size_t given_ = 0;  // bytes of it

    std::mutex next_mutex_;  // of the next group, taken before mutex_
    std::size_t next_file_ = 0;
    std::shared_ptr<const TableFileInfo> file_;  // of the next group
    int next_group_ = 0;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::shared_ptr<Group>> groups_;  // under mutex_, in order
    std::size_t bytes_ahead_ = 0;                // of all texts of them
    std::size_t decoding_ = 0;                   // threads
    std::vector<std::jthread> threads_;
};

}  // namespace strid::parquet
