// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/base/whole_file.hpp>

namespace strid {

namespace {

bool is_file_at(int descriptor, const std::string& path) noexcept {
    struct stat open {};
    struct stat named {};
    return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/// False also if the file system has no locks: then a file that is being written cannot be
/// distinguished from a leftover, and is treated as one.
bool is_locked_by_another(int descriptor) noexcept {
    return ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// A rename cannot replace a mounted file.
bool is_mounted(const std::string& file, const std::string& directory) noexcept {
    struct statx of_file {};
    struct statx of_directory {};
    if (::statx(AT_FDCWD, file.c_str(), 0, STATX_MNT_ID, &of_file) != 0) return false;
    if (::statx(AT_FDCWD, directory.c_str(), 0, STATX_MNT_ID, &of_directory) != 0) return false;
    const auto both = of_file.stx_mask & of_directory.stx_mask;
    return (both & STATX_MNT_ID) != 0 && of_file.stx_mnt_id != of_directory.stx_mnt_id;
}

/// In a folder like /tmp only its owner may replace a file.
bool is_protected(const struct stat& file, const std::string& directory) noexcept {
    struct stat folder {};
    const uid_t user = ::geteuid();
    return ::stat(directory.c_str(), &folder) == 0 && (folder.st_mode & S_ISVTX) != 0 &&
           user != 0 && user != file.st_uid && user != folder.st_uid;
}

}  // namespace

WholeFile::WholeFile(std::string path, const FilePlace& place)
    : path_(std::move(path)),
      target_(place.path()),
      directory_(place.directory),
      beside_(place.beside(temporary_name(place.name))) {
    check_old();
    create();
    adopt_permissions();
}

WholeFile::~WholeFile() {
    if (descriptor_ < 0) return;
    ::unlink(beside_.c_str());
    ::close(descriptor_);
}

void WholeFile::fail(const std::string& what, int error) const {
    throw InputOutputError(path_ + ": " + what + ": " + std::generic_category().message(error));
}

void WholeFile::cannot_replace(const std::string& why) const {
    throw InputOutputError(path_ + ": cannot be replaced by a whole result, because " + why +
                           ": write it live (--write live, Writing::live)");
}

// A file that could not be overwritten is not replaced either.
void WholeFile::check_old() const {
    struct stat old {};
    if (::stat(target_.c_str(), &old) != 0) return;
    const int opened = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (opened < 0) fail("cannot open for writing", errno);
    ::close(opened);
    if (is_mounted(target_, directory_)) cannot_replace("it is mounted where it stands");
    if (is_protected(old, directory_)) cannot_replace("it belongs to another user");
}

void WholeFile::create() {
    constexpr int tries_max = 100;  // others that clean up at the same time
    for (int i = 0; i < tries_max; ++i) {
        const int created = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (created >= 0) {
            if (!is_locked_by_another(created) && is_file_at(created, beside_)) {
                descriptor_ = created;
                return;
            }
            ::close(created);
            continue;
        }
        if (errno == EEXIST && take_away_leftover()) continue;
        const int error = errno;
        struct stat old {};
        if (::stat(target_.c_str(), &old) == 0 && error != ENOSPC && error != EDQUOT) {
            cannot_replace("no file can be made beside it (" +
                           std::generic_category().message(error) + ")");
        }
        fail("cannot open for writing", error);
    }
    throw InputOutputError(path_ + ": is being written by another run");
}

/// False, with errno set, on failure.
bool WholeFile::take_away_leftover() {
    const int leftover = ::open(beside_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (leftover < 0) return errno == ENOENT;
    if (is_locked_by_another(leftover)) {
        ::close(leftover);
        throw InputOutputError(path_ + ": is being written by another run (" + beside_ +
                               "): wait for its end, or name another file");
    }
    const bool removed = !is_file_at(leftover, beside_) || ::unlink(beside_.c_str()) == 0;
    const int error = errno;
    ::close(leftover);
    errno = error;
    return removed;
}

// As far as this user may: if the group cannot be kept, another group gets no rights.
void WholeFile::adopt_permissions() const noexcept {
    struct stat old {};
    struct stat own {};
    if (::stat(target_.c_str(), &old) != 0 || ::fstat(descriptor_, &own) != 0) return;
    mode_t mode = old.st_mode & 0777;
    if (own.st_uid != old.st_uid) static_cast<void>(::fchown(descriptor_, old.st_uid, -1U) == 0);
    if (own.st_gid != old.st_gid && ::fchown(descriptor_, -1U, old.st_gid) != 0) mode &= ~070U;
    ::fchmod(descriptor_, mode);
    std::array<char, 4096> rights{};
    constexpr const char* name = "system.posix_acl_access";
    const ssize_t size = ::getxattr(target_.c_str(), name, rights.data(), rights.size());
    if (size > 0) ::fsetxattr(descriptor_, name, rights.data(), static_cast<std::size_t>(size), 0);
}

void WholeFile::commit() {
    // A network file system may report a full disk only when a descriptor is closed; this one stays
    // open, for its lock, until the file has its name.
    const int copy = ::dup(descriptor_);
    if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) fail("cannot write", errno);
    if (::rename(beside_.c_str(), target_.c_str()) != 0) {
        const int error = errno;
        ::close(std::exchange(descriptor_, -1));
        fail("the whole result stays in " + beside_ + ", for it cannot be renamed", error);
    }
    ::close(std::exchange(descriptor_, -1));
}

}  // namespace strid
