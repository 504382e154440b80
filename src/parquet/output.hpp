// SPDX-License-Identifier: Apache-2.0
//
// A folder that parts of rows are added to, or a file that the rows of a run are. Threads: one at a
// time, but for interrupt(); of a run that writes live a thread of this object ends parts in
// silence.
//
// Parts get their names with a commit, all that are whole. The first commit ends all parts, because
// a run that is written whole has no other. A later one, of a run that writes live, leaves those
// that are neither long nor old, until a commit without rows: the run has ended.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_rows.hpp>

#include "part_folder.hpp"
#include "part_set.hpp"
#include "partition.hpp"

namespace strid::parquet {

class FolderOutput final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit FolderOutput(TransportAddress address);
    ~FolderOutput() override { close(); }

    void open(const std::vector<std::string>& columns) override;
    void write(std::string_view rows) override;
    void commit() override;
    void commit(const Epoch& epoch) override;
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override;
    void close() noexcept override;
    void interrupt() noexcept override {}  // a disk is not waited for

  private:
    void check_place() const;
    void begin();
    void take_fields(std::vector<CsvField>& fields);
    void settle_form();
    void guess_types();
    void write_rows(std::string_view rows);
    void end_parts();
    void name_parts(std::string_view beginning);
    void name_file();
    void end_old_parts(const std::stop_token& stop);
    void remove_file() const noexcept;
    void publish_rest() noexcept;
    void reset() noexcept;
    [[nodiscard]] std::string types_text() const;

    const std::string path_;
    const std::string name_;  // for messages
    const bool is_file_;      // one, and no folder of parts
    const TypeNames given_;   // by the option
    TypeNames known_;         // the same, and what the program knows
    Partition partition_;
    PartLimits limits_;
    std::shared_ptr<::parquet::WriterProperties> properties_;

    std::mutex mutex_;  // of all below
    PartFolder folder_;
    std::vector<std::string> columns_;
    TypeNames found_;                       // of the first rows
    std::shared_ptr<const PartForm> form_;  // null: the types are not known
    std::string held_;                      // rows before them
    PartSet parts_;
    std::vector<std::pair<std::string, std::string>> whole_;  // parts and their folders
    detail::RowsOfText rows_;
    std::vector<FieldText> fields_;  // of a row
    std::string row_folder_;
    std::string run_;  // the beginning of the names of parts, without epochs
    std::uint64_t parts_of_run_ = 0;
    std::uint64_t commits_ = 0;
    ::dev_t device_ = 0;  // of the file, once it has its name
    ::ino_t inode_ = 0;
    bool has_rows_ = false;  // behind the last commit
    bool has_begun_ = false;
    bool has_failed_ = false;     // a call has thrown
    std::exception_ptr failure_;  // of the thread
    std::condition_variable_any changed_;
    std::jthread thread_;
};

}  // namespace strid::parquet
