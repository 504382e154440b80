// SPDX-License-Identifier: Apache-2.0
#include "partial_files.hpp"

#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <strid/base/file_use.hpp>

namespace strid {

namespace {

constexpr std::chrono::seconds valid_for{10};

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

PartialFiles& PartialFiles::of_process() {
    static PartialFiles files;
    return files;
}

bool PartialFiles::is_known(const struct stat& folder) const noexcept {
    return folder.st_dev == device_ && folder.st_ino == inode_ &&
           std::chrono::steady_clock::now() - read_at_ < valid_for;
}

void PartialFiles::read(int directory) {
    names_.clear();
    const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, CloseDirectory> stream(own < 0 ? nullptr : ::fdopendir(own));
    if (!stream) {
        if (own >= 0) ::close(own);
        return;
    }
    while (const dirent* const entry = ::readdir(stream.get())) {
        const std::string_view name(static_cast<const char*>(entry->d_name));
        if (name.ends_with(temporary_ending)) names_.emplace(name);
    }
}

std::vector<std::string> PartialFiles::find(int directory, std::string_view name) {
    const std::lock_guard lock(mutex_);
    struct stat folder {};
    if (::fstat(directory, &folder) != 0) return {};
    if (!is_known(folder)) {
        read(directory);
        device_ = folder.st_dev;
        inode_ = folder.st_ino;
        read_at_ = std::chrono::steady_clock::now();
    }
    std::string first = temporary_pattern(name);
    first.resize(first.size() - temporary_ending.size() - 1);  // up to its star
    std::vector<std::string> found;
    for (auto at = names_.lower_bound(first); at != names_.end() && at->starts_with(first); ++at) {
        if (is_temporary_name(*at, name)) found.push_back(*at);
    }
    return found;
}

void PartialFiles::add(int directory, const std::string& temporary) {
    const std::lock_guard lock(mutex_);
    struct stat folder {};
    if (::fstat(directory, &folder) != 0) return;
    if (folder.st_dev == device_ && folder.st_ino == inode_) names_.insert(temporary);
}

void PartialFiles::remove(const std::string& temporary) {
    const std::lock_guard lock(mutex_);
    names_.erase(temporary);
}

}  // namespace strid
