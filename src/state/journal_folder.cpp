// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/engine/state/journal_folder.hpp>

namespace strid::detail {

namespace {

constexpr const char* journal_lock = "lock";
constexpr int open_directory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::string file_name(const JournalFile& file) {
    return fmt::format("{:06}-{:020}.journal", file.generation, file.first);
}

std::optional<JournalFile> file_named(std::string_view name) {
    JournalFile file;
    const char* const end = name.data() + name.size();
    const auto generation = std::from_chars(name.data(), end, file.generation);
    if (generation.ec != std::errc{} || generation.ptr == end) return std::nullopt;
    const auto first = std::from_chars(generation.ptr + 1, end, file.first);
    if (first.ec != std::errc{} || name != file_name(file)) return std::nullopt;
    return file;
}

int synchronize_folder(int directory) noexcept {
    while (::fsync(directory) != 0) {
        if (errno == EINTR) continue;
        return errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
    }
    return 0;
}

void make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), S_IRWXU) != 0) {
        if (errno != EEXIST) fail_of_journal(path, "cannot make the folder of a journal", errno);
        return;
    }
    const JournalDescriptor parent(::open((path + "/..").c_str(), open_directory));
    if (parent.is_open()) synchronize_folder(parent.get());
}

}  // namespace

void fail_of_journal(const std::string& file, const char* what, int error) {
    throw InputOutputError(
        fmt::format("{}: {}: {}", file, what, std::generic_category().message(error)));
}

JournalFolder::JournalFolder(std::string path, Use use) : path_(std::move(path)) {
    if (use == Use::writes) make_folder(path_);
    directory_ = JournalDescriptor(::open(path_.c_str(), open_directory));
    if (!directory_.is_open()) {
        fail_of_journal(path_, "cannot open the folder of a journal", errno);
    }
    if (use == Use::reads) return;
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    lock_ = JournalDescriptor(::openat(directory_.get(), journal_lock, flags, S_IRUSR | S_IWUSR));
    if (!lock_.is_open()) fail_of_journal(path_, "cannot write to the folder of a journal", errno);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
    if (errno != EWOULDBLOCK) fail_of_journal(path_, "cannot lock the folder of a journal", errno);
    throw InputOutputError(path_ + ": another source has its journal here");
}

std::vector<JournalFile> JournalFolder::files() const {
    struct Close {
        void operator()(DIR* stream) const noexcept { ::closedir(stream); }
    };
    const int opened = ::openat(directory_.get(), ".", open_directory);
    if (opened < 0) fail_of_journal(path_, "cannot read the folder of a journal", errno);
    const std::unique_ptr<DIR, Close> stream(::fdopendir(opened));
    if (!stream) {
        const int error = errno;
        ::close(opened);
        fail_of_journal(path_, "cannot read the folder of a journal", error);
    }
    std::vector<JournalFile> found;
    while (const dirent* const entry = ::readdir(stream.get())) {
        if (const auto file = file_named(static_cast<const char*>(entry->d_name))) {
            found.push_back(*file);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string JournalFolder::file_of(const JournalFile& file) const {
    return path_ + '/' + file_name(file);
}

// A pipe with the name would keep its reader waiting.
JournalFileReader JournalFolder::open(const JournalFile& file) const {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const int opened = ::openat(directory_.get(), file_name(file).c_str(), flags);
    if (opened < 0) fail_of_journal(file_of(file), "cannot open the file of a journal", errno);
    return {opened, file_of(file)};
}

int JournalFolder::create(const JournalFile& file) const noexcept {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return ::openat(directory_.get(), file_name(file).c_str(), flags, S_IRUSR | S_IWUSR);
}

void JournalFolder::remove(const JournalFile& file) const {
    if (::unlinkat(directory_.get(), file_name(file).c_str(), 0) == 0) return;
    if (errno == ENOENT) return;
    fail_of_journal(file_of(file), "cannot remove the file of a journal", errno);
}

int JournalFolder::synchronize() const noexcept {
    return synchronize_folder(directory_.get());
}

std::uint64_t JournalFolder::file_bytes(const JournalFile& file) const noexcept {
    struct stat status {};
    const auto name = file_name(file);
    if (::fstatat(directory_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return 0;
    return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace strid::detail
