// SPDX-License-Identifier: Apache-2.0
#include "launcher/folder_lock.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::exchange {

namespace {

std::filesystem::path file_in(const std::filesystem::path& folder) {
    return folder / "exchange.lock";
}

struct flock whole_file() {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) {
    const std::string path = file_in(folder);
    file_ = Socket(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file_) throw InputOutputError(path + ": " + std::generic_category().message(errno));
    struct flock lock = whole_file();
    if (::fcntl(file_.descriptor(), F_SETLK, &lock) == 0) return;
    if (errno != EAGAIN && errno != EACCES) {
        throw InputOutputError(path + ": " + std::generic_category().message(errno));
    }
    throw InputOutputError(fmt::format("{}: an exchange runs there already", folder.string()));
}

std::optional<pid_t> FolderLock::holder(const std::filesystem::path& folder) {
    const Socket file(::open(file_in(folder).c_str(), O_RDWR | O_CLOEXEC));
    if (!file) return std::nullopt;
    struct flock lock = whole_file();
    if (::fcntl(file.descriptor(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        return std::nullopt;
    }
    return lock.l_pid;
}

}  // namespace strid::exchange
