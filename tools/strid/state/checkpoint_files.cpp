// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_files.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <numeric>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>

namespace strid::tool {

namespace {

using http::Descriptor;

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr const char* ours = "strid-states";
constexpr const char* live = "live";  // the database of a run

std::string text_of_error(int error) {
    return std::generic_category().message(error);
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw InputOutputError(path + ": " + why);
}

/// The names of the entries. Throws InputOutputError.
std::vector<std::string> entries_of(int folder, const std::string& path) {
    struct Close {
        void operator()(DIR* stream) const noexcept { ::closedir(stream); }
    };
    const int again = ::openat(folder, ".", folder_flags);
    if (again < 0) refuse(path, text_of_error(errno));
    const std::unique_ptr<DIR, Close> stream(::fdopendir(again));
    if (!stream) {
        ::close(again);
        refuse(path, text_of_error(ENOMEM));
    }
    std::vector<std::string> names;
    while (const dirent* const entry = ::readdir(stream.get())) {
        const std::string_view name = static_cast<const char*>(entry->d_name);
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// A folder that no other user can put something into. Throws InputOutputError.
Descriptor open_folder(int above, const std::string& name, const std::string& shown) {
    Descriptor opened(::openat(above, name.c_str(), folder_flags));
    if (opened.get() < 0) refuse(shown, text_of_error(errno));
    struct stat status {};
    if (::fstat(opened.get(), &status) != 0) refuse(shown, text_of_error(errno));
    if (status.st_uid != ::geteuid() || (status.st_mode & S_IWOTH) != 0) {
        refuse(shown, "it is no folder of this user that others may not write to");
    }
    return opened;
}

/// "a/b/c": "a/b" and "c".
std::pair<std::string, std::string> split(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) refuse(path, "it is no folder of states");
    return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

std::string fault_of(const SnapshotCheckpoint& checkpoint) {
    const auto& [folder, files] = checkpoint.where;
    return folder.empty() ? "" : fault_of_files(folder, files);
}

std::uint64_t bytes_of(const SnapshotCheckpoint& checkpoint) {
    const auto& files = checkpoint.where.files;
    return std::accumulate(
        files.begin(), files.end(), std::uint64_t{0},
        [](std::uint64_t sum, const CheckpointFile& file) { return sum + file.bytes; });
}

StatesFolder::StatesFolder(std::string path) : path_(std::move(path)) {
    std::string of_operator;
    std::string root;
    std::tie(of_operator, name_) = split(path_);
    std::tie(root, operator_name_) = split(of_operator);
    root_ = open_folder(AT_FDCWD, root, root);
    of_operator_ = open_folder(root_.get(), operator_name_, of_operator);
    folder_ = open_folder(of_operator_.get(), name_, path_);
    lock_ = Descriptor(::openat(folder_.get(), ours, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (lock_.get() < 0) refuse(path_, fmt::format("it has no file {}, by which it is ours", ours));
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) refuse(path_, "a run keeps its states here");
}

bool StatesFolder::has(const std::string& name) const {
    struct stat status {};
    return ::fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

void StatesFolder::remove(const std::string& name) const {
    const std::string shown = path_ + '/' + name;
    const Descriptor folder = open_folder(folder_.get(), name, shown);
    for (const std::string& file : entries_of(folder.get(), shown)) {
        if (::unlinkat(folder.get(), file.c_str(), 0) != 0) {
            refuse(shown + '/' + file, "cannot be removed: " + text_of_error(errno));
        }
    }
    if (::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR) != 0) {
        refuse(shown, "cannot be removed: " + text_of_error(errno));
    }
}

std::vector<std::string> StatesFolder::remove_if_empty() const {
    auto left = entries_of(folder_.get(), path_);
    std::erase(left, ours);
    if (!left.empty()) return left;
    ::unlinkat(folder_.get(), ours, 0);
    ::unlinkat(of_operator_.get(), name_.c_str(), AT_REMOVEDIR);
    ::unlinkat(root_.get(), operator_name_.c_str(), AT_REMOVEDIR);
    return left;
}

void CheckpointFolders::add(const SnapshotCheckpoint& checkpoint) {
    const std::string& path = checkpoint.where.folder;
    if (path.empty()) {
        text_ += fmt::format("the checkpoint of operator '{}' in a store of the program (stays)\n",
                             checkpoint.operator_name);
        return;
    }
    const auto [of_replica, name] = split(path);
    const auto [entry, is_new] = replicas_.try_emplace(of_replica);
    Replica& replica = entry->second;
    if (is_new) {
        try {
            replica.folder = std::make_unique<StatesFolder>(of_replica);
            if (replica.folder->has(live)) {
                text_ += fmt::format("{}/{} (of a run that was killed)\n", of_replica, live);
            }
        } catch (const InputOutputError& error) {
            replica.fault = error.what();
        }
    }
    if (replica.folder == nullptr) {
        text_ += fmt::format("{} (stays: {})\n", path, replica.fault);
    } else if (replica.folder->has(name)) {
        replica.names.insert(name);
        text_ += path + '\n';
    } else {
        text_ += "not found: " + path + '\n';
    }
}

std::string CheckpointFolders::remove() const {
    std::string left;
    for (const auto& [path, replica] : replicas_) {
        if (replica.folder == nullptr) continue;
        for (const std::string& name : replica.names) replica.folder->remove(name);
        if (replica.folder->has(live)) replica.folder->remove(live);
        const auto others = replica.folder->remove_if_empty();
        if (!others.empty())
            left += fmt::format("{} has more: {}\n", path, fmt::join(others, ", "));
    }
    return left;
}

}  // namespace strid::tool
