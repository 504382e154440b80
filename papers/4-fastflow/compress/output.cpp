// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/engine/base/file_place.hpp>

#include "file_names.hpp"

namespace strid::compress {

StandardOutput::StandardOutput(const std::atomic<bool>& interrupted)
    : destination_("-", Writing::live), interrupted_(interrupted) {
    destination_.open();
}

FileOutput::FileOutput(const std::string& path, const struct stat& input, bool force,
                       const std::atomic<bool>& interrupted)
    : destination_(path, Writing::whole), input_(input), force_(force), interrupted_(interrupted) {
    // The result replaces a link, not what it leads to.
    struct stat there {};
    if (force && ::lstat(path.c_str(), &there) == 0 && S_ISLNK(there.st_mode)) {
        ::unlink(path.c_str());
    }
    const auto place = find_place(path);
    if (place) beside_ = place->beside(temporary_name(place->name));
    destination_.open();
    // Before the first byte is there: an output that is replaced may have been open to all. The
    // mask of the process (main.cpp) keeps a new one from others.
    if (::chmod(beside_.c_str(), S_IRUSR | S_IWUSR) != 0) {
        throw InputOutputError(fmt::format("{}: cannot set its permissions: {}", path,
                                           std::generic_category().message(errno)));
    }
}

void FileOutput::take_over_permissions() const {
    const bool owned = ::chown(beside_.c_str(), input_.st_uid, input_.st_gid) == 0;
    // Another group, or another owner's program, gets no rights that were not meant for it.
    const mode_t kept = owned ? 07777 : 0707;
    const std::array times{input_.st_atim, input_.st_mtim};
    if (::chmod(beside_.c_str(), input_.st_mode & kept) != 0 ||
        ::utimensat(AT_FDCWD, beside_.c_str(), times.data(), 0) != 0) {
        throw InputOutputError(fmt::format("{}: cannot set its permissions and times: {}",
                                           destination_.path(),
                                           std::generic_category().message(errno)));
    }
}

void FileOutput::commit() {
    take_over_permissions();
    if (!force_ && exists(destination_.path())) {
        throw InputOutputError(
            fmt::format("{}: was made by another program meanwhile", destination_.path()));
    }
    destination_.commit(interrupted_);
}

}  // namespace strid::compress
