// SPDX-License-Identifier: Apache-2.0
#include "spool.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>

namespace {

namespace fs = std::filesystem;

/// A finished file is called NUMBER.csv, or NUMBER-STREAM-EPOCH.csv where it is the epoch of a run
/// with snapshots. NUMBER has twenty digits, so that names have the order of the files.
constexpr std::size_t number_digits = 20;
constexpr std::string_view ending = ".csv";

/// Files of other names are none of the spool.
bool is_finished(std::string_view name) {
    if (name.size() <= number_digits || !name.ends_with(ending)) return false;
    if (name.find_first_not_of("0123456789") != number_digits) return false;
    return name[number_digits] == '-' || name.size() == number_digits + ending.size();
}

/// Those of a folder, in their order.
std::vector<std::string> files_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        std::string name = entry.path().filename().string();
        if (is_finished(name)) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::uint64_t number_in(std::string_view text) {
    std::uint64_t number = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

fs::path folder_of(const strid::TransportAddress& address) {
    if (address.place().empty()) address.refuse("the address of a spool is spool:FOLDER");
    return address.decoded_place();
}

/// Bytes of the files. Its positions last, so that a run with snapshots goes on at one and reads
/// nothing before it again: `NAME BYTES`, the place in a file.
class SpoolInput final : public strid::TransportInput {
  public:
    explicit SpoolInput(strid::TransportAddress address)
        : address_(address.text()), is_finite_(address.take("until") == "end") {
        address.expect_no_more("there is until, which is end");
        folder_ = folder_of(address);
        if (!fs::is_directory(folder_)) {
            throw strid::InputOutputError(address_ + ": there is no such folder");
        }
    }

    strid::ByteReader::Result read(std::span<char> out, int wait_ms) override {
        using Status = strid::ByteReader::Status;
        do {
            file_.read(out.data(), static_cast<std::streamsize>(out.size()));
            if (const auto got = static_cast<std::size_t>(file_.gcount()); got != 0) {
                bytes_ += got;
                return {Status::read, got};
            }
        } while (open_next());
        if (is_finite_) return {Status::end, 0};
        // A call waits no longer than it may: between two of them the run may be stopped.
        std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
        return {Status::waiting, 0};
    }

    [[nodiscard]] bool has_positions() const noexcept override { return true; }

    void passed(std::uint64_t bytes) override {
        while (pieces_.size() > 1 && pieces_[1].begin <= bytes) pieces_.pop_front();
    }

    [[nodiscard]] Position position(std::uint64_t bytes) override {
        passed(bytes);
        if (pieces_.empty()) return {.text = " 0", .bytes = bytes};
        const Piece& piece = pieces_.front();
        const std::uint64_t place = piece.offset + (bytes - piece.begin);
        return {.text = piece.name + ' ' + std::to_string(place), .bytes = bytes};
    }

    void go_on_at(std::string_view position) override {
        const std::size_t blank = position.rfind(' ');
        if (blank == std::string_view::npos) {
            throw strid::InputOutputError(address_ + ": the snapshot has no place in a spool");
        }
        if (blank == 0) return;  // nothing was read
        open(std::string(position.substr(0, blank)), number_in(position.substr(blank + 1)));
    }

  private:
    /// Bytes of a file that were read, from `begin` of all bytes on.
    struct Piece {
        std::uint64_t begin = 0;
        std::string name;
        std::uint64_t offset = 0;
    };

    bool open_next() {
        const std::vector<std::string> names = files_in(folder_);
        const auto next = std::upper_bound(names.begin(), names.end(), name_);
        if (next == names.end()) return false;
        open(*next, 0);
        return true;
    }

    void open(std::string name, std::uint64_t offset) {
        file_ = std::ifstream(folder_ / name, std::ios::binary);
        file_.seekg(static_cast<std::streamoff>(offset));
        if (!file_) throw strid::InputOutputError(address_ + ": the file is gone: " + name);
        pieces_.push_back({bytes_, name, offset});
        name_ = std::move(name);
    }

    std::string address_;
    bool is_finite_;
    fs::path folder_;
    std::ifstream file_;
    std::string name_;          // of the file
    std::uint64_t bytes_ = 0;   // that were read
    std::deque<Piece> pieces_;  // that are not passed, but for the last
};

/// Rows are kept until the end of their transaction; then the file gets its name, which is the
/// commit. The name has the number of the epoch: no place else could disagree with it.
class SpoolOutput final : public strid::TransportOutput {
  public:
    explicit SpoolOutput(const strid::TransportAddress& address)
        : address_(address.text()), folder_(folder_of(address)) {
        address.expect_no_more("there are no options of an output");
    }

    void open(const std::vector<std::string>& /*columns*/) override {
        close();
        std::error_code error;
        fs::create_directories(folder_, error);
        if (error) fail(error.message());
        lock();
        const std::vector<std::string> names = files_in(folder_);
        number_ = names.empty() ? 0 : number_in(names.back());
    }
    void write(std::string_view rows) override { rows_ += rows; }
    void commit() override { make_file(""); }
    void commit(const Epoch& epoch) override {
        make_file("-" + std::string(epoch.stream) + "-" + std::to_string(epoch.number));
    }
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override {
        const std::string of_stream = "-" + std::string(stream) + "-";
        std::uint64_t last = 0;
        for (const std::string& name : files_in(folder_)) {
            const std::string_view rest = std::string_view(name).substr(number_digits);
            if (!rest.starts_with(of_stream)) continue;
            last = std::max(last, number_in(rest.substr(of_stream.size())));
        }
        return last;
    }
    void close() noexcept override {
        rows_.clear();
        if (lock_ >= 0) ::close(lock_);
        lock_ = -1;
    }
    ~SpoolOutput() override { close(); }
    SpoolOutput(const SpoolOutput&) = delete;
    SpoolOutput& operator=(const SpoolOutput&) = delete;
    void interrupt() noexcept override {}  // no call waits for a server

  private:
    [[noreturn]] void fail(const std::string& reason) const {
        throw strid::InputOutputError(address_ + ": " + reason);
    }

    /// Two writers would give out the same numbers. The system takes the lock of one that is
    /// killed.
    void lock() {
        lock_ = ::open((folder_ / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock_ < 0) fail("the folder cannot be written");
        if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) fail("another output writes this folder");
    }

    /// Behind a commit all is on the disk: first the bytes, then the name. A link, unlike a rename,
    /// never takes the place of a file that is there.
    void make_file(const std::string& suffix) {
        if (rows_.empty()) return;
        std::string number = std::to_string(++number_);
        number.insert(0, number_digits - number.size(), '0');
        const fs::path begun = folder_ / ".begun";
        // Not truncated: where a run was killed behind link(), it is a finished file as well.
        ::unlink(begun.c_str());
        const int file = ::open(begun.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0) fail("a file cannot be made");
        bool is_written = true;
        for (std::string_view rest = rows_; is_written && !rest.empty();) {
            const ::ssize_t wrote = ::write(file, rest.data(), rest.size());
            is_written = wrote > 0;
            if (is_written) rest.remove_prefix(static_cast<std::size_t>(wrote));
        }
        is_written = is_written && ::fsync(file) == 0;
        ::close(file);
        const fs::path named = folder_ / (number + suffix + std::string(ending));
        if (!is_written || ::link(begun.c_str(), named.c_str()) != 0) {
            fail("a file cannot be written");
        }
        ::unlink(begun.c_str());
        const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0 || ::fsync(folder) != 0) fail("the folder cannot be written");
        ::close(folder);
        rows_.clear();
    }

    std::string address_;
    fs::path folder_;
    std::string rows_;          // of the transaction
    std::uint64_t number_ = 0;  // of the last file
    int lock_ = -1;
};

}  // namespace

void use_spool() {
    strid::add_transport({.scheme = "spool",
                          .input =
                              [](strid::TransportAddress address) {
                                  return std::make_unique<SpoolInput>(std::move(address));
                              },
                          .output =
                              [](const strid::TransportAddress& address) {
                                  return std::make_unique<SpoolOutput>(address);
                              }});
}
