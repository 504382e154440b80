// SPDX-License-Identifier: Apache-2.0
//
// A folder that parts get their names in. Parts are written in `_strid/STREAM/`, which readers pass
// over, and are renamed when they are whole and on the disk; a name that is there is never
// replaced. STREAM is that of a run with snapshots, or random.
//
// Of a run with snapshots the parts of an epoch are named in the file `epoch`, with its number and
// the types of the columns. The file is replaced at once; from then on the epoch is in the folder,
// whatever happens: a part that has not its name yet gets it from last_epoch(). One process at a
// time has the lock of a stream. A run without snapshots locks its folder while it lasts; the next
// one removes those that are not locked. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace strid::parquet {

class PartFolder {
  public:
    /// Makes nothing.
    explicit PartFolder(std::string path) : path_(std::move(path)) {}
    ~PartFolder() { close(); }
    PartFolder(const PartFolder&) = delete;
    PartFolder& operator=(const PartFolder&) = delete;

    /// Makes the folder, and the one of the stream; of a stream with epochs it also takes the lock
    /// and finishes what a process before has begun. Throws InputOutputError, as all others do, and
    /// ConnectionLost where another process has the lock.
    void begin(std::string_view stream, bool has_epochs);
    /// A path for a part that is not whole yet.
    [[nodiscard]] std::string temporary() const;
    /// A part that is whole gets a name below the folder with the next publish().
    void add(std::string temporary, std::string name);
    [[nodiscard]] bool has_added() const noexcept { return !added_.empty(); }
    /// Of a run without epochs all get their names, or none.
    void publish();
    /// Behind a failure: those that can have names get them.
    void publish_usable() noexcept;
    /// The same as publish(), as the parts of an epoch: once it is recorded they get their names.
    void publish(std::uint64_t epoch, std::string_view types);
    /// Of the stream: what the folder has.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    [[nodiscard]] const std::string& types() const noexcept { return types_; }
    /// Removes parts without a name. begin() may follow.
    void close() noexcept;

    /// Whether it has begun with them.
    [[nodiscard]] bool has_epochs_of(std::string_view stream) const noexcept {
        return has_epochs_ && !stream_.empty() && stream_ == stream;
    }

  private:
    using Named = std::pair<std::string, std::string>;  // path, name below the folder

    void lock_stream();
    void lock_run();
    void remove_dead_runs() const noexcept;
    void read_epoch();
    void write_epoch(std::uint64_t epoch, std::string_view types);
    [[nodiscard]] std::vector<std::string> make_folders() const;
    void name_parts(const std::vector<std::string>& folders);
    void name_part(const Named& part);

    const std::string path_;
    std::string stream_;  // empty: it has not begun
    bool has_epochs_ = false;
    std::string rest_;  // the folder of the stream
    int lock_ = -1;
    std::uint64_t epoch_ = 0;
    std::string types_;
    std::vector<Named> added_;
};

/// With those above it, where they are not there. Throws InputOutputError.
void make_folder(const std::string& path);
/// Makes the entries of a folder last. Throws InputOutputError.
void synchronize_folder(const std::string& path);
/// Renames a file to a name that nothing has. Throws InputOutputError.
void rename_to_new(const std::string& from, const std::string& to);

}  // namespace strid::parquet
