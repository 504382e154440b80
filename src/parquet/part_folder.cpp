// SPDX-License-Identifier: Apache-2.0
#include "part_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/connector/transport.hpp>

#include "place.hpp"

namespace strid::parquet {

namespace {

constexpr std::string_view own_folder = "_strid";
constexpr std::string_view first_line = "strid parts 1";

[[noreturn]] void fail_at(const std::string& path, std::string_view what, int error) {
    const std::string reason = fmt::format("{}: {}: {}", path, what, reason_of_error(error));
    if (error == ENOSPC || error == EDQUOT) throw ConnectionLost(reason);
    throw InputOutputError(reason);
}

void write_new_file(const std::string& path, std::string_view text) {
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) fail_at(path, "cannot write", errno);
    int error = 0;
    while (error == 0 && !text.empty()) {
        const ::ssize_t written = ::write(file, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (error == 0 && ::fsync(file) != 0) error = errno;
    ::close(file);
    if (error == 0) return;
    ::unlink(path.c_str());
    fail_at(path, "cannot write", error);
}

bool is_there(const std::string& path) noexcept {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

bool is_one_file(const std::string& one, const std::string& other) noexcept {
    struct stat first {};
    struct stat second {};
    return ::lstat(one.c_str(), &first) == 0 && ::lstat(other.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// Removes the parts without a name that a process which was killed has left.
void remove_rest(const std::string& folder) noexcept {
    std::error_code error;
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string path = entry.path().string();
        if (path.ends_with(temporary_ending)) paths.push_back(path);
    }
    for (const std::string& path : paths) ::unlink(path.c_str());
}

/// `20260301T100000-XXXXXXXXXX`; one of a run with epochs is of hexadecimal digits.
bool is_name_of_run(std::string_view name) noexcept {
    constexpr std::size_t day = 8;
    constexpr std::size_t time = 15;
    return name.size() > time && name[day] == 'T' && name[time] == '-';
}

/// `word REST`: the rest; throws InputOutputError where the line is another.
std::string_view rest_of(std::string_view line, std::string_view word, const std::string& path) {
    if (!line.starts_with(word)) throw InputOutputError(path + ": the file is damaged");
    return line.substr(word.size());
}

}  // namespace

void make_folder(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return;
    const std::string above = std::filesystem::path(path).parent_path().string();
    if (!above.empty()) make_folder(above);
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
        fail_at(path, "cannot make the folder", errno);
    }
    synchronize_folder(above.empty() ? "." : above);
}

void synchronize_folder(const std::string& path) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail_at(path, "cannot open the folder", errno);
    const int error = ::fsync(folder) == 0 ? 0 : errno;
    ::close(folder);
    if (error != 0 && error != EINVAL) fail_at(path, "cannot write the folder", error);
}

void rename_to_new(const std::string& from, const std::string& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
    // Some file systems know no such flag: a second name does not replace one either.
    int error = errno;
    if (error == EINVAL) error = ::link(from.c_str(), to.c_str()) == 0 ? 0 : errno;
    // A process that was killed between the two calls has left both names.
    const bool is_done = error == 0 || (error == EEXIST && is_one_file(from, to));
    if (!is_done) fail_at(to, "cannot name the file", error);
    ::unlink(from.c_str());
}

void PartFolder::begin(std::string_view stream, bool has_epochs) {
    close();
    rest_ = fmt::format("{}/{}/{}", path_, own_folder, path_part(stream));
    if (has_epochs) {
        lock_stream();
    } else {
        remove_dead_runs();
        lock_run();
    }
    stream_ = stream;
    has_epochs_ = has_epochs;
    epoch_ = 0;
    types_.clear();
    if (!has_epochs) return;
    read_epoch();
    name_parts(make_folders());
    remove_rest(rest_);
}

void PartFolder::lock_stream() {
    make_folder(rest_);
    const std::string path = rest_ + "/lock";
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (lock_ < 0) fail_at(path, "cannot write", errno);
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
    const int error = errno;
    ::close(std::exchange(lock_, -1));
    if (error != EWOULDBLOCK) fail_at(path, "cannot lock", error);
    throw ConnectionLost(path_ + ": another process writes this stream");
}

/// Another process may remove the folder before it is locked.
void PartFolder::lock_run() {
    for (;;) {
        make_folder(rest_);
        lock_ = ::open(rest_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (lock_ < 0 && errno == ENOENT) continue;
        if (lock_ < 0) fail_at(rest_, "cannot open the folder", errno);
        // Where there are no such locks no other process gets one, and nothing is removed.
        const bool is_held = ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        struct stat of_path {};
        struct stat of_lock {};
        const bool is_same = ::stat(rest_.c_str(), &of_path) == 0 &&
                             ::fstat(lock_, &of_lock) == 0 && of_path.st_ino == of_lock.st_ino;
        if (!is_held && is_same) return;
        ::close(std::exchange(lock_, -1));
    }
}

/// The folders of runs without epochs that were killed: their locks are free.
void PartFolder::remove_dead_runs() const noexcept {
    std::error_code error;
    std::vector<std::string> paths;
    for (const auto& entry :
         std::filesystem::directory_iterator(path_ + "/" + std::string(own_folder), error)) {
        if (is_name_of_run(entry.path().filename().string())) {
            paths.push_back(entry.path().string());
        }
    }
    for (const std::string& path : paths) {
        const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        if (::flock(folder, LOCK_EX | LOCK_NB) == 0) {
            remove_rest(path);
            ::rmdir(path.c_str());
        }
        ::close(folder);
    }
}

/// The parts that it names are added, where they have no names yet.
void PartFolder::read_epoch() {
    const std::string path = rest_ + "/epoch";
    if (!is_there(path)) return;
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    if (line != first_line) throw InputOutputError(path + ": the file is damaged");
    std::getline(file, line);
    if (detail::read_integer(rest_of(line, "epoch ", path), epoch_) != nullptr) {
        throw InputOutputError(path + ": the file is damaged");
    }
    std::getline(file, line);
    types_ = text_of_part(rest_of(line, "types ", path));
    while (std::getline(file, line) && line != "end") {
        const std::string_view part = rest_of(line, "part ", path);
        const std::size_t space = part.find(' ');
        if (space == std::string_view::npos) throw InputOutputError(path + ": the file is damaged");
        const std::string from = fmt::format("{}/{}", rest_, part.substr(0, space));
        if (is_there(from)) added_.emplace_back(from, part.substr(space + 1));
    }
    if (line != "end") throw InputOutputError(path + ": the file is damaged");
}

void PartFolder::write_epoch(std::uint64_t epoch, std::string_view types) {
    std::string text = fmt::format("{}\nepoch {}\ntypes {}\n", first_line, epoch, path_part(types));
    for (const auto& [from, name] : added_) {
        text += fmt::format("part {} {}\n", std::string_view(from).substr(rest_.size() + 1), name);
    }
    text += "end\n";
    const std::string made = temporary();
    write_new_file(made, text);
    synchronize_folder(rest_);  // the parts are there, before they are named
    const std::string path = rest_ + "/epoch";
    if (::rename(made.c_str(), path.c_str()) != 0) fail_at(path, "cannot write", errno);
    synchronize_folder(rest_);
}

std::string PartFolder::temporary() const {
    return fmt::format("{}/{}", rest_, temporary_name("part"));
}

void PartFolder::add(std::string temporary, std::string name) {
    added_.emplace_back(std::move(temporary), std::move(name));
}

void PartFolder::publish() {
    name_parts(make_folders());
}

void PartFolder::publish_usable() noexcept {
    const std::vector<Named> all = std::exchange(added_, {});
    for (const Named& part : all) {
        try {
            added_ = {part};
            name_parts(make_folders());
        } catch (...) {  // the run has failed already
        }
    }
    added_.clear();
}

void PartFolder::publish(std::uint64_t epoch, std::string_view types) {
    if (epoch <= epoch_) {
        throw ConnectionLost(fmt::format("{}: another process has added epoch {}", path_, epoch_));
    }
    const std::vector<std::string> folders = make_folders();
    write_epoch(epoch, types);
    epoch_ = epoch;
    types_ = types;
    name_parts(folders);
}

/// Those of the parts that are added. Before any of them has its name: it may be that one of their
/// names is none.
std::vector<std::string> PartFolder::make_folders() const {
    std::vector<std::string> folders;
    for (const Named& part : added_) {
        const std::string to = fmt::format("{}/{}", path_, part.second);
        if (to.size() >= PATH_MAX) fail_at(to, "cannot name the file", ENAMETOOLONG);
        std::string folder = to.substr(0, to.rfind('/'));
        if (std::find(folders.begin(), folders.end(), folder) != folders.end()) continue;
        make_folder(folder);
        folders.push_back(std::move(folder));
    }
    return folders;
}

void PartFolder::name_parts(const std::vector<std::string>& folders) {
    std::size_t named = 0;
    try {
        for (; named != added_.size(); ++named) name_part(added_[named]);
    } catch (...) {
        while (!has_epochs_ && named != 0) {
            const auto& [from, name] = added_[--named];
            ::rename(fmt::format("{}/{}", path_, name).c_str(), from.c_str());
        }
        throw;
    }
    for (const std::string& folder : folders) synchronize_folder(folder);
    if (!folders.empty()) synchronize_folder(rest_);
    added_.clear();
}

void PartFolder::name_part(const Named& part) {
    const std::string to = fmt::format("{}/{}", path_, part.second);
    // Behind a fault that has passed some have their names.
    if (has_epochs_ && !is_there(part.first) && is_there(to)) return;
    rename_to_new(part.first, to);
}

void PartFolder::close() noexcept {
    if (stream_.empty()) return;
    // Those of an epoch that the folder has get their names from the next one.
    if (!has_epochs_) {
        remove_rest(rest_);
        if (::rmdir(rest_.c_str()) == 0) {
            ::rmdir(rest_.substr(0, rest_.rfind('/')).c_str());
        }
    }
    added_.clear();
    if (lock_ >= 0) ::close(std::exchange(lock_, -1));
    stream_.clear();
}

}  // namespace strid::parquet
