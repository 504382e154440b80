// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/base/whole_file.hpp>

#include "partial_files.hpp"

namespace strid {

namespace {

bool is_file_at(int descriptor, int directory, const std::string& name) noexcept {
    struct stat open {};
    struct stat named {};
    return ::fstat(descriptor, &open) == 0 &&
           ::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

enum class Lock : unsigned char { taken, held_by_another, impossible };

Lock lock(int descriptor) noexcept {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return Lock::taken;
    return errno == EWOULDBLOCK ? Lock::held_by_another : Lock::impossible;
}

/// A writer holds its lock for long, another run that removes leftovers for a moment.
Lock lock_patiently(int descriptor) noexcept {
    constexpr int tries = 5;
    constexpr int wait_ms = 10;
    Lock result = lock(descriptor);
    for (int i = 0; i < tries && result == Lock::held_by_another; ++i) {
        ::poll(nullptr, 0, wait_ms);
        result = lock(descriptor);
    }
    return result;
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
bool is_protected(const struct stat& file, int directory) noexcept {
    struct stat folder {};
    const uid_t user = ::geteuid();
    return ::fstat(directory, &folder) == 0 && (folder.st_mode & S_ISVTX) != 0 && user != 0 &&
           user != file.st_uid && user != folder.st_uid;
}

}  // namespace

WholeFile::WholeFile(std::string path, const FilePlace& place, OldFile old)
    : path_(std::move(path)), place_(place), old_(old) {
    try {
        open_directory();
        check_old();
        clear_leftovers();
        create(temporary_name);
    } catch (...) {
        close();
        throw;
    }
}

WholeFile::WholeFile(std::string path, const FilePlace& place, const UnfinishedFile* before)
    : path_(std::move(path)), place_(place), old_(OldFile::adopted) {
    try {
        open_directory();
        check_old();
        if (before == nullptr) {
            clear_leftovers();
            create(unfinished_name);
            synchronize(directory_, "its name may not be on the disk");
        } else {
            reopen(*before);
        }
    } catch (...) {
        close();
        throw;
    }
}

WholeFile::~WholeFile() {
    if (descriptor_ >= 0 && beside_ != place_.name &&
        is_file_at(descriptor_, directory_, beside_)) {
        ::unlinkat(directory_, beside_.c_str(), 0);
    }
    close();
}

void WholeFile::close() noexcept {
    if (descriptor_ >= 0) PartialFiles::of_process().remove(beside_);
    for (int* const descriptor : {&descriptor_, &directory_}) {
        if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
    }
}

void WholeFile::fail(const std::string& what, int error) const {
    throw InputOutputError(path_ + ": " + what + ": " + std::generic_category().message(error));
}

void WholeFile::cannot_replace(const std::string& why) const {
    const bool may_be_live = old_ == OldFile::adopted;
    throw InputOutputError(path_ + ": cannot be replaced by a whole result, because " + why +
                           (may_be_live ? ": write it live (--write live, Writing::live)" : ""));
}

/// One that may be searched but not read serves, too.
void WholeFile::open_directory() {
    constexpr int flags = O_DIRECTORY | O_CLOEXEC;
    directory_ = ::open(place_.directory.c_str(), O_RDONLY | flags);
    if (directory_ < 0) directory_ = ::open(place_.directory.c_str(), O_PATH | flags);
    if (directory_ < 0) fail("cannot open for writing", errno);
}

bool WholeFile::find_old(struct stat& status) const noexcept {
    return ::fstatat(directory_, place_.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

// A file that could not be overwritten is not adopted either.
void WholeFile::check_old() const {
    struct stat old {};
    if (old_ == OldFile::refused || !find_old(old)) return;
    if (old_ == OldFile::adopted) {
        constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        const int opened = ::openat(directory_, place_.name.c_str(), flags);
        if (opened < 0) fail("cannot open for writing", errno);
        ::close(opened);
    }
    if (is_mounted(place_.path(), place_.directory)) {
        cannot_replace("it is mounted where it stands");
    }
    if (is_protected(old, directory_)) cannot_replace("it belongs to another user");
}

void WholeFile::create(std::string (*name_beside)(std::string_view)) {
    struct stat old {};
    const bool is_new = old_ == OldFile::adopted && !find_old(old);
    const mode_t alone = S_IRUSR | S_IWUSR;
    constexpr int tries_max = 100;  // others that clean up at the same time
    for (int i = 0; i < tries_max; ++i) {
        beside_ = name_beside(place_.name);
        descriptor_ =
            ::openat(directory_, beside_.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, is_new ? 0666 : alone);
        if (descriptor_ < 0 && errno == EEXIST) continue;
        if (descriptor_ < 0) fail_to_create(errno);
        if (lock(descriptor_) != Lock::held_by_another &&
            is_file_at(descriptor_, directory_, beside_)) {
            break;
        }
        ::close(std::exchange(descriptor_, -1));
    }
    if (descriptor_ < 0) throw InputOutputError(path_ + ": is being written by another run");
    PartialFiles::of_process().add(directory_, beside_);
    // The permissions of a new file depend on the mask of the process, which cannot be read without
    // changing it for other threads, and on the access list of the directory.
    struct stat created {};
    if (!is_new || ::fstat(descriptor_, &created) != 0) return;
    mode_ = created.st_mode & 0777;
    ::fchmod(descriptor_, alone);
}

/// A file that is shorter than it was has lost rows: nothing is written behind the gap.
void WholeFile::reopen(const UnfinishedFile& before) {
    const auto cannot = [&](const std::string& why) {
        throw InputOutputError(path_ + ": cannot go on with " + place_.beside(before.beside) +
                               ", which the snapshot names: " + why);
    };
    if (before.beside.find('/') != std::string::npos) cannot("it lies in another folder");
    constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    beside_ = before.beside;
    descriptor_ = ::openat(directory_, beside_.c_str(), flags);
    struct stat found {};
    if (descriptor_ < 0 && errno == ENOENT && find_old(found) && found.st_ino == before.inode) {
        beside_ = place_.name;  // the run ended between its name and the next snapshot
        descriptor_ = ::openat(directory_, beside_.c_str(), flags);
    }
    if (descriptor_ < 0) cannot(std::generic_category().message(errno));
    const bool is_ours = ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode) &&
                         found.st_uid == ::geteuid() && found.st_nlink == 1;
    const auto refuse = [&](const std::string& why) {
        ::close(std::exchange(descriptor_, -1));
        cannot(why);
    };
    if (!is_ours) refuse("it is no file of this user alone");
    if (lock_patiently(descriptor_) == Lock::held_by_another) refuse("another run writes it");
    if (static_cast<std::uint64_t>(found.st_size) < before.bytes) {
        refuse("it has " + std::to_string(found.st_size) + " bytes, and had " +
               std::to_string(before.bytes));
    }
    const auto bytes = static_cast<off_t>(before.bytes);
    if (::ftruncate(descriptor_, bytes) != 0 || ::lseek(descriptor_, bytes, SEEK_SET) != bytes) {
        refuse(std::generic_category().message(errno));
    }
    mode_ = static_cast<mode_t>(before.mode) & 0777;
}

UnfinishedFile WholeFile::unfinished() const {
    const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
    if (at < 0) fail("cannot tell how much was written", errno);
    struct stat own {};
    if (::fstat(descriptor_, &own) != 0) fail("cannot be looked at", errno);
    return {beside_, static_cast<std::uint64_t>(at), mode_, own.st_ino};
}

void WholeFile::fail_to_create(int error) const {
    struct stat old {};
    if (find_old(old) && error != ENOSPC && error != EDQUOT) {
        cannot_replace("no file can be made beside it (" + std::generic_category().message(error) +
                       ")");
    }
    fail("cannot open for writing", error);
}

// Only of this user: another one may have made a file with such a name to have it locked, and may
// not have a file removed that is a leftover to others.
void WholeFile::clear_leftovers() const {
    for (const std::string& name : PartialFiles::of_process().find(directory_, place_.name)) {
        struct stat found {};
        if (::fstatat(directory_, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(found.st_mode) || found.st_uid != ::geteuid()) {
            continue;
        }
        constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        const int leftover = ::openat(directory_, name.c_str(), flags);
        if (leftover < 0) continue;
        // Without locks a leftover cannot be told from a file that is being written.
        const Lock locked = lock_patiently(leftover);
        if (locked == Lock::taken && is_file_at(leftover, directory_, name)) {
            ::unlinkat(directory_, name.c_str(), 0);
            PartialFiles::of_process().remove(name);
        }
        ::close(leftover);
        if (locked == Lock::held_by_another) {
            throw InputOutputError(path_ + ": is being written by another run (" +
                                   place_.beside(name) +
                                   "): wait for its end, or name another file");
        }
    }
}

// As far as this user may: if owner or group cannot be kept, others get no rights in their place.
// The owner comes first, because a change of it takes away rights.
void WholeFile::finish_status() const {
    struct stat status {};
    if (status_) {
        status = *status_;
    } else if (old_ != OldFile::adopted) {
        return;
    } else if (!find_old(status) || !S_ISREG(status.st_mode)) {
        ::fchmod(descriptor_, mode_);
        return;
    }
    struct stat own {};
    const bool owned = ::fchown(descriptor_, status.st_uid, status.st_gid) == 0;
    const bool has_group =
        owned || (::fstat(descriptor_, &own) == 0 &&
                  (own.st_gid == status.st_gid || ::fchown(descriptor_, -1U, status.st_gid) == 0));
    const mode_t kept = owned && status_ ? 07777 : has_group ? 0777 : 0707;
    const int changed = ::fchmod(descriptor_, status.st_mode & kept);
    if (!status_) {
        adopt_access_list();
        return;
    }
    if (changed != 0) fail("cannot set its permissions", errno);
    const std::array times{status.st_atim, status.st_mtim};
    if (::futimens(descriptor_, times.data()) != 0) fail("cannot set its times", errno);
}

void WholeFile::adopt_access_list() const noexcept {
    std::array<char, 4096> rights{};
    constexpr const char* name = "system.posix_acl_access";
    const std::string target = place_.path();
    const ssize_t size = ::lgetxattr(target.c_str(), name, rights.data(), rights.size());
    if (size > 0) ::fsetxattr(descriptor_, name, rights.data(), static_cast<std::size_t>(size), 0);
}

// Some file systems have nothing to synchronise.
void WholeFile::synchronize(int descriptor, const char* what) const {
    while (::fsync(descriptor) != 0) {
        if (errno == EINTR) continue;
        if (errno == EINVAL || errno == EROFS || errno == ENOTSUP || errno == EBADF) return;
        fail(what, errno);
    }
}

int WholeFile::rename() const noexcept {
    const char* const from = beside_.c_str();
    const char* const to = place_.name.c_str();
    if (old_ == OldFile::refused) {
        if (::renameat2(directory_, from, directory_, to, RENAME_NOREPLACE) == 0) return 0;
        if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
        struct stat old {};
        if (find_old(old)) return EEXIST;
    }
    return ::renameat(directory_, from, directory_, to) == 0 ? 0 : errno;
}

void WholeFile::commit() {
    if (beside_ == place_.name) return close();  // it has it
    finish_status();
    synchronize(descriptor_, "cannot write");
    const std::string taken = path_ + ": another program took away the file it was written to";
    if (!is_file_at(descriptor_, directory_, beside_)) throw InputOutputError(taken);
    if (const int error = rename(); error != 0) {
        if (error == EEXIST && old_ == OldFile::refused) {
            throw InputOutputError(path_ + ": was made by another program meanwhile");
        }
        close();
        fail("the whole result stays in " + place_.beside(beside_) + ", for it cannot be renamed",
             error);
    }
    if (!is_file_at(descriptor_, directory_, place_.name)) throw InputOutputError(taken);
    synchronize(directory_, "is whole, but its name may not be on the disk");
    close();
}

}  // namespace strid
