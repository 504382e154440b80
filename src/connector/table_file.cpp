// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <fstream>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sys/stat.h>

#include <strid/base/log.hpp>
#include <strid/connector/table_file.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/base/excerpt.hpp>
#include <strid/engine/base/thread_name.hpp>

namespace strid::connector {

/// The properties of a file that are known without reading it.
struct FileState {
    dev_t device = 0;
    ino_t inode = 0;
    off_t bytes = 0;
    std::int64_t changed_ns = 0;
    bool is_regular = false;

    [[nodiscard]] bool is_same_file(const FileState& other) const noexcept {
        return device == other.device && inode == other.inode;
    }
    bool operator==(const FileState&) const = default;
};

namespace {

/// Nothing where there is no such file, with errno set.
std::optional<FileState> state_of(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    return FileState{found.st_dev, found.st_ino, found.st_size,
                     found.st_mtim.tv_sec * ns_per_s + found.st_mtim.tv_nsec,
                     S_ISREG(found.st_mode)};
}

std::string shown(const std::string& path) {
    constexpr std::size_t shown_bytes_max = 4096;
    return excerpt(path, shown_bytes_max);
}

/// Whether the bytes are the beginning of text, one byte or more a character, and not of something
/// compressed, which has checks of its own, or of UTF-16.
bool is_plain_text(std::string_view begin) {
    using namespace std::string_view_literals;
    for (const std::string_view magic : {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "BZh"sv,
                                         "\xfd\x37zXZ"sv, "\xff\xfe"sv, "\xfe\xff"sv}) {
        if (begin.starts_with(magic)) return false;
    }
    return true;
}

/// Throws InputOutputError where the last line has no end: it may be half of what it is to be.
void check_last_line(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 8> begin{};
    file.read(begin.data(), begin.size());
    const auto count = static_cast<std::size_t>(file.gcount());
    if (count == 0 || !is_plain_text({begin.data(), count})) return;
    file.clear();
    file.seekg(-1, std::ios::end);
    if (file.get() == '\n') return;
    throw InputOutputError(
        fmt::format("{}: the last line has no end: the file may be half written", shown(path)));
}

/// The file was written to while it was read: it is to be looked at again.
class Changed : public InputOutputError {
  public:
    explicit Changed(const std::string& path)
        : InputOutputError(fmt::format("{}: the file changed while it was read", shown(path))) {}
};

/// The last handle is gone while its thread reads: not an error.
struct Stopped {};

/// Of the thread that reads a table again; null: a caller waits for the table.
thread_local const std::stop_token* stop_of_reading = nullptr;

}  // namespace

void go_on_reading(bool has_rows) {
    if (stop_of_reading != nullptr && stop_of_reading->stop_requested()) throw Stopped{};
    if (!has_rows) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

void check_rows_end(const ByteReader& rows, const std::string& path) {
    if (!rows.has_positions()) return;
    throw GraphError(fmt::format(
        "{}: a table for look-ups has an end, and changes and messages have none", shown(path)));
}

void fail_table(const std::string& path, const std::vector<std::uint64_t>& lines,
                const TableError& error) {
    const auto line_of = [&lines](std::size_t entry) {
        return entry < lines.size() ? lines[entry] : std::uint64_t{0};
    };
    const std::string other = error.other() == error.entry()
                                  ? std::string{}
                                  : fmt::format(", first in line {}", line_of(error.other()));
    throw InputOutputError(
        fmt::format("{}:{}: {}{}", shown(path), line_of(error.entry()), error.what(), other));
}

class FileWatch::Reader {
  public:
    Reader(std::string path, const TableFileOptions& options, std::function<TakeOver()> read,
           std::function<void(std::exception_ptr)> fail)
        : path_(std::move(path)),
          is_text_(!transport_is_table(path_)),
          is_file_(is_text_ || state_of(path_).has_value()),
          options_(options),
          read_(std::move(read)),
          fail_(std::move(fail)) {
        if (options.check_every < Duration::zero()) {
            throw GraphError("the time between two looks at a table's file must not be negative");
        }
        if (!is_transport_address(path_)) return;
        check_transport_address(path_);
        if (is_text_) {
            throw GraphError(fmt::format(
                "{}: a table for look-ups is a file, or a table of a database", shown(path_)));
        }
    }

    void begin() {
        {
            const std::lock_guard lock{reading_};
            tried_ = state_of(path_);
            read_()();
        }
        if (options_.check_every == Duration::zero()) return;
        if (is_file_ && (!tried_.has_value() || !tried_->is_regular)) {
            throw GraphError(fmt::format(
                "{} can be read once only: check_every needs a regular file", shown(path_)));
        }
        thread_ = std::jthread([this](const std::stop_token& stop) {
            strid::detail::name_this_thread("strid-table");
            stop_of_reading = &stop;
            watch(stop);
        });
    }

    bool reload() {
        const std::lock_guard lock{reading_};
        tried_ = state_of(path_);
        return read_anew();
    }

    [[nodiscard]] std::string last_failure() const {
        const std::lock_guard lock{mutex_};
        return failure_;
    }
    [[nodiscard]] std::uint64_t failures() const {
        const std::lock_guard lock{mutex_};
        return failures_;
    }

  private:
    void watch(const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any never;
        std::unique_lock lock{mutex};
        // Woken by the stop alone.
        while (!never.wait_for(lock, stop, options_.check_every, [] { return false; })) {
            if (stop.stop_requested()) return;
            look();
        }
    }

    void look() {
        const std::lock_guard lock{reading_};
        if (!is_file_) {
            (void)read_anew();
            return;
        }
        const std::optional<FileState> now = state_of(path_);
        if (now == tried_) {
            resting_.reset();
            return;
        }
        // Another file of the same name is taken for complete; one that is written in place is
        // complete once it rests.
        const bool is_other =
            !now.has_value() || !tried_.has_value() || !now->is_same_file(*tried_);
        if (!is_other && now != resting_) {
            resting_ = now;
            return;
        }
        tried_ = now;
        (void)read_anew();
    }

    /// With `tried_` as the file was before. True where a version was taken over.
    bool read_anew() {
        try {
            if (is_file_) check_file();
            const TakeOver take_over = read_();
            if (is_file_ && state_of(path_) != tried_) throw Changed(path_);
            take_over();
            is_lost_ = false;
            const std::lock_guard lock{mutex_};
            failure_.clear();
            return true;
        } catch (const Stopped&) {
            return false;
        } catch (const ConnectionLost& error) {
            // Once, however often the server is asked while it is away.
            if (std::exchange(is_lost_, true)) {
                const std::lock_guard lock{mutex_};
                failure_ = error.what();
            } else {
                report(error.what());
            }
            return false;
        } catch (const Changed& error) {
            // The thread will see another state and read once more.
            if (options_.check_every > Duration::zero()) {
                const std::lock_guard lock{mutex_};
                failure_ = error.what();
            } else {
                report(error.what());
            }
            return false;
        } catch (const std::exception& error) {
            is_lost_ = false;
            // Each look at a table of a database finds the same fault until it is mended.
            if (is_file_ || last_failure() != error.what()) report(error.what());
            return false;
        }
    }

    /// Throws where the file is none that can be taken over.
    void check_file() const {
        if (!tried_.has_value()) {
            throw InputOutputError(
                fmt::format("{}: {}", shown(path_), std::generic_category().message(ENOENT)));
        }
        if (!tried_->is_regular) {
            throw InputOutputError(
                fmt::format("{}: only a regular file can be read again", shown(path_)));
        }
        if (is_text_) check_last_line(path_);
    }

    void report(const std::string& failure) {
        {
            const std::lock_guard lock{mutex_};
            failure_ = failure;
            ++failures_;
        }
        const bool is_kept = options_.on_failed_reload == OnFailedReload::keep;
        const std::string text =
            failure + (is_kept ? ": look-ups go on in the table as it was" : "");
        log_event({.level = LogLevel::warning, .text = text});
        if (options_.report) options_.report(failure);
        if (!is_kept) fail_(std::make_exception_ptr(InputOutputError(failure)));
    }

    const std::string path_;
    const bool is_text_;  // else rows of a table, which a transport reads
    const bool is_file_;  // else each look reads it: nothing is known of it before
    const TableFileOptions options_;
    const std::function<TakeOver()> read_;
    const std::function<void(std::exception_ptr)> fail_;
    std::mutex reading_;  // one reads at a time; guards these three
    std::optional<FileState> tried_;
    std::optional<FileState> resting_;
    bool is_lost_ = false;      // the server, since the table was read last
    mutable std::mutex mutex_;  // guards these two
    std::string failure_;
    std::uint64_t failures_ = 0;
    std::jthread thread_;  // ends first
};

FileWatch::FileWatch(std::string path, const TableFileOptions& options,
                     std::function<TakeOver()> read, std::function<void(std::exception_ptr)> fail)
    : reader_(
          std::make_unique<Reader>(std::move(path), options, std::move(read), std::move(fail))) {}

FileWatch::~FileWatch() = default;

void FileWatch::begin() {
    reader_->begin();
}

bool FileWatch::reload() {
    return reader_->reload();
}

std::string FileWatch::last_failure() const {
    return reader_->last_failure();
}

std::uint64_t FileWatch::failures() const {
    return reader_->failures();
}

}  // namespace strid::connector
