// SPDX-License-Identifier: Apache-2.0
#include "replica_folder.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/state/bytes.hpp>

namespace strid::rocksdb {

namespace {

namespace files = std::filesystem;

constexpr const char* ours = "strid-states";

[[noreturn]] void fail(const std::string& path, std::string_view what, int error) {
    throw InputOutputError(
        fmt::format("{}: {}: {}", path, what, std::generic_category().message(error)));
}

/// False: it is not there.
bool check_folder(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return false;
        fail(path, "cannot read the folder", errno);
    }
    if (!S_ISDIR(status.st_mode)) throw InputOutputError(path + ": is no folder");
    // Another user could put other files in the place of ours, which RocksDB opens by their names.
    if (status.st_uid != ::geteuid() || (status.st_mode & S_IWOTH) != 0) {
        throw InputOutputError(path +
                               ": states need a folder that is this user's, and that not every "
                               "user may write to");
    }
    return true;
}

/// True: it was not there.
bool make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), S_IRWXU) == 0) return true;
    if (errno != EEXIST) fail(path, "cannot make the folder of states", errno);
    (void)check_folder(path);
    return false;
}

void remove_all(const std::string& path) {
    std::error_code error;
    files::remove_all(path, error);  // follows no links
    if (error) fail(path, "cannot be removed", error.value());
}

/// An operator's name as that of a folder.
std::string folder_name(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '-' || c == '_') {
            text += c;
        } else {
            text += fmt::format("%{:02x}", byte);
        }
    }
    return text;
}

std::string checkpoint_in(const std::string& of_operator, const ColdStore::Checkpoint& named) {
    return fmt::format("{}/{}/{:010}", of_operator, named.replica, named.snapshot);
}

/// The number that a folder's name is, as it is written.
std::optional<std::uint64_t> number_of(const std::string& name) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return number;
}

/// The names of the entries.
std::vector<std::string> entries_of(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (files::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
        names.push_back(entry->path().filename());
    }
    if (error) fail(path, "cannot read the folder", error.value());
    return names;
}

bool is_ours(const std::string& path) {
    struct stat status {};
    return ::lstat((path + '/' + ours).c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// The lock of a folder that is ours, unless another has it.
class LockIfFree {
  public:
    explicit LockIfFree(const std::string& file)
        : file_(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)),
          is_held_(file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) == 0) {}
    LockIfFree(const LockIfFree&) = delete;
    LockIfFree& operator=(const LockIfFree&) = delete;
    ~LockIfFree() {
        if (file_ >= 0) ::close(file_);
    }
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }

  private:
    int file_;
    bool is_held_;
};

}  // namespace

void RootFolder::make() {
    const std::lock_guard lock(mutex_);
    is_made_ = make_folder(path_) || is_made_;
}

void RootFolder::remove_if_empty() noexcept {
    const std::lock_guard lock(mutex_);
    if (is_made_ && ::rmdir(path_.c_str()) == 0) is_made_ = false;
}

ReplicaFolder::ReplicaFolder(RootFolder& root, const ColdStorePlace& place)
    : root_(root),
      of_operator_(folder_of_operator(root.path(), place.operator_name)),
      path_(fmt::format("{}/{}", of_operator_, place.replica)),
      replica_(place.replica),
      parallelism_(place.parallelism) {
    root_.make();
    make_folder(of_operator_);
    make_folder(path_);
    lock();
    try {
        remove_all(live());
    } catch (...) {
        ::close(lock_);
        throw;
    }
}

// The lock file of a run that ends may be removed between the two calls.
void ReplicaFolder::lock() {
    if (!is_ours(path_) && !entries_of(path_).empty()) {
        throw InputOutputError(path_ +
                               ": has files that are not of Strid: states need a folder of "
                               "their own");
    }
    const std::string file = path_ + '/' + ours;
    lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (lock_ < 0) fail(path_, "cannot write to the folder of states", errno);
    const bool has_lock = ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
    const int error = errno;
    struct stat locked {};
    struct stat named {};
    if (has_lock && ::fstat(lock_, &locked) == 0 && ::lstat(file.c_str(), &named) == 0 &&
        locked.st_ino == named.st_ino) {
        return;
    }
    ::close(lock_);
    if (!has_lock && error != EWOULDBLOCK) fail(path_, "cannot lock the folder of states", error);
    throw InputOutputError(path_ + ": another run keeps its states here");
}

ReplicaFolder::~ReplicaFolder() {
    std::error_code error;
    files::remove_all(live(), error);
    files::directory_iterator entry(path_, error);
    const files::directory_iterator end;
    if (!error && entry != end && entry->path().filename() == ours && ++entry == end) {
        ::unlink((path_ + '/' + ours).c_str());
        ::rmdir(path_.c_str());
        ::rmdir(of_operator_.c_str());
        root_.remove_if_empty();
    }
    ::close(lock_);
}

std::string ReplicaFolder::checkpoint(const ColdStore::Checkpoint& named) const {
    return checkpoint_in(of_operator_, named);
}

CheckpointFiles ReplicaFolder::files_of(std::uint64_t snapshot) const {
    CheckpointFiles found{.folder = checkpoint(snapshot)};
    for (std::string& name : entries_of(found.folder)) {
        std::error_code error;
        const auto bytes = files::file_size(found.folder + '/' + name, error);
        if (error) fail(found.folder + '/' + name, "cannot be read", error.value());
        found.files.push_back({std::move(name), bytes});
    }
    std::ranges::sort(found.files, {}, &CheckpointFile::name);
    return found;
}

// The file has no name, so that a killed process leaves none.
void ReplicaFolder::expect_room(std::uint64_t bytes) const {
    const std::string file = live() + "/room";
    constexpr int flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    const int opened = ::open(file.c_str(), flags, S_IRUSR | S_IWUSR);
    if (opened < 0) fail(path_, "cannot look for the room for a checkpoint", errno);
    ::unlink(file.c_str());
    const int failed = ::fallocate(opened, 0, 0, static_cast<off_t>(bytes));
    const int error = errno;
    ::close(opened);
    // A system of files that reserves no room is not asked.
    if (failed != 0 && error != EOPNOTSUPP) {
        fail(path_, fmt::format("there is no room for a checkpoint of {} bytes", bytes), error);
    }
}

void ReplicaFolder::remove_checkpoint(std::uint64_t snapshot) const {
    remove_all(checkpoint(snapshot));
    remove_all(checkpoint(snapshot) + ".tmp");
}

void ReplicaFolder::keep_checkpoints(std::span<const std::uint64_t> snapshots) const {
    keep_checkpoints(path_, snapshots);
    for (const std::string& name : entries_of(of_operator_)) {
        const auto replica = number_of(name);
        if (!replica || *replica < parallelism_ || *replica % parallelism_ != replica_) continue;
        const std::string folder = of_operator_ + '/' + name;
        const LockIfFree lock(folder + '/' + ours);
        if (!lock.is_held()) continue;
        keep_checkpoints(folder, snapshots);
        remove_all(folder + "/live");  // of a run that was killed
        if (entries_of(folder).size() != 1) continue;
        ::unlink((folder + '/' + ours).c_str());
        ::rmdir(folder.c_str());
    }
}

void ReplicaFolder::keep_checkpoints(const std::string& folder,
                                     std::span<const std::uint64_t> snapshots) const {
    for (const std::string& name : entries_of(folder)) {
        const auto number = number_of(name.substr(0, name.find(".tmp")));
        if (!number) continue;
        if (std::find(snapshots.begin(), snapshots.end(), *number) != snapshots.end()) continue;
        remove_all(folder + '/' + name);
    }
}

void ReplicaFolder::synchronise() const {
    for (const std::string& path : {path_, of_operator_, root_.path(), root_.path() + "/.."}) {
        const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) continue;  // one above ours, which need not be readable
        const int failed = ::fsync(folder);
        const int error = errno;
        ::close(folder);
        if (failed != 0) fail(path, "may not be on the disk", error);
    }
}

std::string folder_of_operator(const std::string& root, std::string_view name) {
    return root + '/' + folder_name(name);
}

std::string existing_checkpoint(const std::string& of_operator,
                                const ColdStore::Checkpoint& named) {
    const std::string of_replica = fmt::format("{}/{}", of_operator, named.replica);
    const std::string path = checkpoint_in(of_operator, named);
    for (const std::string& folder : {of_operator + "/..", of_operator, of_replica, path}) {
        if (check_folder(folder)) continue;
        throw StateError("its states are in a checkpoint that is not there: " + path);
    }
    return path;
}

void copy_database(const std::string& from, const std::string& to) {
    make_folder(to);
    for (const std::string& name : entries_of(from)) {
        const std::string old = from + '/' + name;
        const std::string copy = to + '/' + name;
        if (name == "LOCK" || name.starts_with("LOG")) continue;
        if (name.ends_with(".sst")) {  // it is never changed
            if (::link(old.c_str(), copy.c_str()) != 0) fail(copy, "cannot be linked", errno);
            continue;
        }
        std::error_code error;
        files::copy_file(old, copy, error);
        if (error) fail(copy, "cannot be written", error.value());
    }
}

}  // namespace strid::rocksdb
