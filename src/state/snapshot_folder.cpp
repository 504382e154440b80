// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/state/snapshot_requests.hpp>
#include <strid/state/codec.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "snapshot_file.hpp"

namespace strid {

namespace {

constexpr std::string_view ending = ".snapshot";
constexpr std::string_view partial = ".partial";  // behind the name, until it is complete
constexpr const char* lock_name = "lock";
constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

/// The error of the call, or 0.
template <class Call>
int patiently(const Call& call) {
    while (call() < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

[[noreturn]] void fail(const std::string& file, const char* what, int error) {
    throw InputOutputError(
        fmt::format("{}: {}: {}", file, what, std::generic_category().message(error)));
}

/// The name of a snapshot, or nothing.
std::optional<std::uint64_t> number_of(std::string_view name) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || name != SnapshotFiles::name_of(number)) return std::nullopt;
    return number;
}

/// Calls with the name of each entry of the folder.
template <class Take>
void each_entry(int directory, const std::string& path, const Take& take) {
    struct Close {
        void operator()(DIR* stream) const noexcept { ::closedir(stream); }
    };
    OwnedDescriptor own(::openat(directory, ".", directory_flags));
    if (own.get() < 0) fail(path, "cannot read the folder of snapshots", errno);
    const std::unique_ptr<DIR, Close> stream(::fdopendir(own.get()));
    if (!stream) fail(path, "cannot read the folder of snapshots", errno);
    (void)own.release();
    while (const dirent* const entry = ::readdir(stream.get())) {
        take(std::string_view(static_cast<const char*>(entry->d_name)));
    }
}

/// Makes the folder where there is none; then its name is on the disk. Returns the path.
std::string made(std::string path) {
    if (::mkdir(path.c_str(), S_IRWXU) != 0) {
        if (errno != EEXIST) fail(path, "cannot make the folder of snapshots", errno);
        return path;
    }
    const OwnedDescriptor parent(::open((path + "/..").c_str(), directory_flags));
    if (parent.get() >= 0) patiently([&] { return ::fsync(parent.get()); });
    return path;
}

}  // namespace

SnapshotFiles::SnapshotFiles(std::string path) : path_(std::move(path)) {
    directory_ = ::open(path_.c_str(), directory_flags);
    if (directory_ < 0) fail(path_, "cannot open the folder of snapshots", errno);
}

SnapshotFiles::~SnapshotFiles() {
    ::close(directory_);
}

std::string SnapshotFiles::name_of(std::uint64_t number) {
    return fmt::format("{:010}{}", number, ending);
}

std::string SnapshotFiles::file_of(std::uint64_t number) const {
    return path_ + '/' + name_of(number);
}

bool SnapshotFiles::was_used() const {
    return ::faccessat(directory_, lock_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || !numbers().empty();
}

std::vector<std::uint64_t> SnapshotFiles::numbers() const {
    std::vector<std::uint64_t> numbers;
    each_entry(directory_, path_, [&numbers](std::string_view name) {
        if (const auto number = number_of(name)) numbers.push_back(*number);
    });
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

// A pipe with the name would keep its reader waiting.
int SnapshotFiles::open(std::uint64_t number) const {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const int opened = ::openat(directory_, name_of(number).c_str(), flags);
    if (opened >= 0) return opened;
    if (errno == ELOOP) throw StateError("it is a link, where a file is expected");
    if (errno == ENXIO) throw StateError("it is no file");
    fail(file_of(number), "cannot open the snapshot", errno);
}

std::uint64_t SnapshotFiles::file_bytes(std::uint64_t number) const {
    const OwnedDescriptor opened(open(number));
    struct stat status {};
    if (::fstat(opened.get(), &status) != 0) fail(file_of(number), "cannot be read", errno);
    return static_cast<std::uint64_t>(status.st_size);
}

bool SnapshotFiles::is_there(std::uint64_t number) const {
    return ::faccessat(directory_, name_of(number).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

std::optional<std::string> SnapshotFiles::request() const {
    return SnapshotRequests::ask(directory_, path_);
}

SnapshotFolder::SnapshotFolder(std::string path, const SnapshotChanges& changes)
    : SnapshotFiles(made(std::move(path))), changes_(changes) {
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    OwnedDescriptor lock(::openat(directory(), lock_name, flags, S_IRUSR | S_IWUSR));
    if (lock.get() < 0) fail(this->path(), "cannot write to the folder of snapshots", errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) fail(this->path(), "cannot lock the folder of snapshots", errno);
        throw InputOutputError(this->path() + ": another run takes its snapshots here");
    }
    remove_leftovers();
    lock_ = lock.release();
}

SnapshotFolder::~SnapshotFolder() {
    ::close(lock_);
}

std::unique_ptr<SnapshotRequests> SnapshotFolder::answer(std::function<std::string()> take) const {
    return std::make_unique<SnapshotRequests>(directory(), path(), std::move(take));
}

void SnapshotFolder::remove_leftovers() const {
    std::vector<std::string> leftovers;
    each_entry(directory(), path(), [&leftovers](std::string_view name) {
        if (!name.ends_with(partial)) return;
        const std::string_view whole = name.substr(0, name.size() - partial.size());
        if (number_of(whole)) leftovers.emplace_back(name);
    });
    for (const std::string& name : leftovers) ::unlinkat(directory(), name.c_str(), 0);
}

std::optional<Snapshot> SnapshotFolder::newest(const SnapshotWarning& warn,
                                               const SnapshotFault& fault_of) const {
    const auto found = numbers();
    std::string last_fault;
    for (auto number = found.rbegin(); number != found.rend(); ++number) {
        const bool is_last = number + 1 == found.rend();
        try {
            auto snapshot = read(*number);
            const std::string fault = fault_of ? fault_of(snapshot.description) : "";
            if (!fault.empty()) throw StateError(fault);
            good_ = *number;
            return snapshot;
        } catch (const StateError& error) {
            last_fault = fmt::format("{}/{}: {}", path(), name_of(*number), error.what());
            if (warn && !is_last) warn(last_fault + "; the snapshot before it is taken");
        }
    }
    if (!found.empty()) {
        throw StateError(last_fault +
                         "; there is no other one: to begin anew, take another folder");
    }
    return std::nullopt;
}

/// An error of the system, or 0.
int SnapshotFolder::write(const std::string& name, const Snapshot& snapshot) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const OwnedDescriptor written(::openat(directory(), name.c_str(), flags, S_IRUSR | S_IWUSR));
    if (written.get() < 0) return errno;
    SnapshotDescription description = snapshot.description;
    description.state_bytes = 0;
    for (std::size_t i = 0; i != snapshot.states.size(); ++i) {
        SnapshotNode& node = description.nodes.at(i);
        node.state_bytes = node.has_ended ? 0 : snapshot.states[i].size();
        description.state_bytes += node.state_bytes;
    }
    SnapshotFileWriter file{written.get()};
    int error = file.begin();
    if (error == 0) error = file.block(StateBytes{state::bytes_of(description)});
    for (std::size_t i = 0; i != snapshot.states.size() && error == 0; ++i) {
        if (!description.nodes[i].has_ended) error = file.block(snapshot.states[i]);
    }
    if (error == 0) error = patiently([&] { return ::fsync(written.get()); });
    const off_t end = ::lseek(written.get(), 0, SEEK_END);
    written_bytes_ = end < 0 ? 0 : static_cast<std::uint64_t>(end);
    return error;
}

void SnapshotFolder::store(const Snapshot& snapshot) {
    const std::uint64_t number = snapshot.description.number;
    const std::string name = name_of(number);
    const std::string beside = name + std::string(partial);
    const std::string shown = path() + '/' + name;
    const std::uint64_t before = snapshot.description.builds_on;
    if (before != 0 && (chain_.empty() || chain_.back() != before)) {
        throw InputOutputError(shown + ": builds on a snapshot that was not stored before it");
    }
    const auto discard = [&] { ::unlinkat(directory(), beside.c_str(), 0); };
    discard();  // of this process, which could not remove it
    try {
        const int error = write(beside, snapshot);
        if (error != 0) fail(shown, "cannot write the snapshot", error);
        if (::renameat(directory(), beside.c_str(), directory(), name.c_str()) != 0) {
            fail(shown, "cannot name the snapshot", errno);
        }
    } catch (...) {
        discard();
        throw;
    }
    if (const int error = patiently([&] { return ::fsync(directory()); }); error != 0) {
        fail(shown, "the snapshot may not be on the disk", error);
    }
    count(snapshot.description);
    remove_old();
}

/// The chain that the snapshot ends. Where it begins one, that of the last good one is kept: a
/// damaged one between the two is nothing to fall back to.
void SnapshotFolder::count(const SnapshotDescription& stored) {
    if (stored.builds_on != 0) {
        chain_.push_back(stored.number);
        change_bytes_ += written_bytes_;
        good_ = stored.number;
        return;
    }
    const bool is_good = good_ && *good_ != stored.number;
    std::optional<std::uint64_t> before = is_good ? good_ : std::nullopt;
    std::vector<std::uint64_t> up_to_before;
    try {
        up_to_before = numbers();
        if (!is_good) std::erase_if(up_to_before, [&](auto n) { return n >= stored.number; });
        if (!is_good && !up_to_before.empty()) before = up_to_before.back();
        std::erase_if(up_to_before, [&](auto n) { return !before || n > *before; });
        const bool is_known = before && !chain_.empty() && chain_.back() == *before;
        if (!is_known) chain_ = before ? chain_of(*before) : std::vector<std::uint64_t>{};
    } catch (const StateError&) {  // it is damaged
        chain_ = {*before};
    } catch (const std::exception&) {  // it may not be, and any of those may belong to it
        chain_ = std::move(up_to_before);
    }
    chain_before_ = std::exchange(chain_, {stored.number});
    may_fall_back_ = is_good;
    whole_bytes_ = written_bytes_;
    change_bytes_ = 0;
    good_ = stored.number;
}

bool SnapshotFolder::takes_changes() const {
    // Where there is nothing to fall back to, the next one is whole and will be that.
    return !chain_.empty() && may_fall_back_ && whole_bytes_ >= changes_.whole_bytes_min &&
           chain_.size() <= changes_.chain_max &&
           static_cast<double>(change_bytes_) <=
               changes_.part_max * static_cast<double>(whole_bytes_);
}

std::uint64_t SnapshotFolder::oldest_needed() const {
    if (!chain_before_.empty()) return chain_before_.back();
    return chain_.empty() ? 0 : chain_.front();
}

/// The newest ones first: no name is there without those that it builds on. Files that cannot be
/// removed now are when the next one is stored.
void SnapshotFolder::remove_old() const noexcept {
    const auto is_in = [](const std::vector<std::uint64_t>& all, std::uint64_t number) {
        return std::find(all.begin(), all.end(), number) != all.end();
    };
    try {
        const auto all = numbers();
        for (auto number = all.rbegin(); number != all.rend(); ++number) {
            if (*number >= chain_.back() || is_in(chain_, *number)) continue;
            if (!is_in(chain_before_, *number)) {
                ::unlinkat(directory(), name_of(*number).c_str(), 0);
            }
        }
    } catch (const std::exception&) {
    }
}

void SnapshotFolder::remove(std::uint64_t number) {
    const std::string name = name_of(number);
    const std::string shown = path() + '/' + name;
    if (::unlinkat(directory(), name.c_str(), 0) != 0) fail(shown, "cannot be removed", errno);
    if (const int error = patiently([&] { return ::fsync(directory()); }); error != 0) {
        fail(shown, "is removed, but may come back when the machine stops", error);
    }
    if (good_ == number) good_.reset();
    chain_.clear();
}

}  // namespace strid
