// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/engine/base/file_place.hpp>

namespace strid {

namespace {

constexpr int links_max = 40;  // the limit of the kernel

struct Free {
    void operator()(char* text) const noexcept { std::free(text); }
};

std::optional<std::string> without_links(const std::string& directory) {
    const std::unique_ptr<char, Free> real{::realpath(directory.c_str(), nullptr)};
    if (!real) return std::nullopt;
    return std::string(real.get());
}

std::optional<std::string> read_link(const std::string& path) {
    std::string target(PATH_MAX, '\0');
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length < 0) return std::nullopt;
    target.resize(static_cast<std::size_t>(length));
    return target;
}

/// The number of the descriptor if the directory is /proc/SELF/fd, else -1.
int descriptor_of(const FilePlace& place) {
    static const std::string own = "/proc/" + std::to_string(::getpid());
    const bool of_process = place.directory == own + "/fd";
    const bool of_thread =
        place.directory.starts_with(own + "/task/") && place.directory.ends_with("/fd");
    if (!of_process && !of_thread) return -1;
    int descriptor = -1;
    const char* const end = place.name.data() + place.name.size();
    const auto read = std::from_chars(place.name.data(), end, descriptor);
    return read.ec == std::errc{} && read.ptr == end ? descriptor : -1;
}

bool is_null_device(const struct stat& status) noexcept {
    struct stat null {};
    return S_ISCHR(status.st_mode) && ::stat("/dev/null", &null) == 0 &&
           status.st_rdev == null.st_rdev;
}

bool status_of(const std::string& path, StandardStream dash, struct stat& status) noexcept {
    if (path != "-") return ::stat(path.c_str(), &status) == 0;
    const int descriptor = dash == StandardStream::input ? STDIN_FILENO : STDOUT_FILENO;
    return ::fstat(descriptor, &status) == 0;
}

}  // namespace

std::string FilePlace::path() const {
    return beside(name);
}

std::string FilePlace::beside(std::string_view name_beside) const {
    std::string result = directory;
    if (!result.ends_with('/')) result += '/';
    return result += name_beside;
}

std::optional<FilePlace> find_place(const std::string& path) {
    std::string rest = path;
    for (int links = 0; links < links_max; ++links) {
        const auto slash = rest.rfind('/');
        const std::string above = slash == std::string::npos ? "."
                                  : slash == 0               ? "/"
                                                             : rest.substr(0, slash);
        auto directory = without_links(above);
        if (!directory) return std::nullopt;
        FilePlace place{.directory = std::move(*directory),
                        .name = slash == std::string::npos ? rest : rest.substr(slash + 1)};
        place.descriptor = descriptor_of(place);
        if (place.descriptor >= 0) return place;
        const auto target = read_link(place.path());
        if (!target) return place;  // not a link, or not there yet
        rest = target->starts_with('/') ? *target : place.beside(*target);
    }
    errno = ELOOP;
    return std::nullopt;
}

std::optional<FileIdentity> identity_of(const std::string& path, StandardStream dash) {
    struct stat status {};
    if (status_of(path, dash, status)) {
        if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode)) return std::nullopt;
        return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
    }
    if (path == "-") return std::nullopt;
    const auto place = find_place(path);
    if (!place || place->descriptor >= 0) return std::nullopt;
    if (::stat(place->directory.c_str(), &status) != 0) return std::nullopt;
    return FileIdentity{.device = status.st_dev, .inode = status.st_ino, .name = place->name};
}

bool file_may_block(const std::string& path, StandardStream dash) noexcept {
    struct stat status {};
    return status_of(path, dash, status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) &&
           !is_null_device(status);
}

}  // namespace strid
