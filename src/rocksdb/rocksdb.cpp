// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/rocksdb/rocksdb.hpp>
#include <strid/state/bytes.hpp>

#include "database.hpp"
#include "replica_folder.hpp"

namespace strid::rocksdb {

namespace {

class Databases final : public ColdStores {
  public:
    Databases(std::string folder, const StoreOptions& options)
        : root_(std::make_shared<RootFolder>(std::move(folder))), options_(options) {}

    [[nodiscard]] std::unique_ptr<ColdStore> open(const ColdStorePlace& place) override {
        return std::make_unique<Database>(root_, place, options_);
    }

    [[nodiscard]] std::string fault_of(const SnapshotCheckpoint& checkpoint,
                                       std::uint64_t snapshot) const override {
        try {
            const std::string of_operator =
                folder_of_operator(root_->path(), checkpoint.operator_name);
            const std::string path =
                existing_checkpoint(of_operator, {snapshot, checkpoint.replica});
            // RocksDB takes a list of files that is cut for one that was written up to there.
            std::string fault = fault_of_files(path, checkpoint.where.files);
            if (fault.empty()) fault = fault_of_database(path);
            return fault.empty() ? fault
                                 : "its states are in a checkpoint that is damaged: " + fault;
        } catch (const StateError& error) {
            return error.what();
        }
    }

  private:
    std::shared_ptr<RootFolder> root_;  // which databases share
    StoreOptions options_;
};

}  // namespace

std::shared_ptr<ColdStores> store(std::string folder, const StoreOptions& options) {
    if (folder.empty()) throw GraphError("the store of states needs the name of a folder");
    return std::make_shared<Databases>(std::move(folder), options);
}

}  // namespace strid::rocksdb
