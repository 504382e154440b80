// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid {

namespace {

constexpr std::string_view first_line = "strid snapshot 1\n";
constexpr std::string_view ending = ".snapshot";
constexpr int level = 1;  // of zstd: states are written in the background of the run
constexpr std::size_t kept = 2;

/// Before each block.
struct BlockHeader {
    std::uint64_t bytes = 0;   // of the contents
    std::uint64_t stored = 0;  // compressed
    std::uint64_t crc = 0;     // of what is stored, with both lengths
};

std::uint64_t crc_of(std::uint64_t bytes, std::span<const std::byte> stored) {
    const std::array<std::uint64_t, 2> lengths{bytes, stored.size()};
    const auto* const first = reinterpret_cast<const Bytef*>(lengths.data());
    uLong crc = ::crc32_z(0, first, sizeof lengths);
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(stored.data()), stored.size());
    return crc;
}

/// A descriptor of its own.
class Open {
  public:
    explicit Open(int descriptor) noexcept : descriptor_(descriptor) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

  private:
    int descriptor_;
};

/// The result of the call, 0, or its error.
template <class Call>
int patiently(const Call& call) {
    while (call() < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

int write_all(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

/// A block is compressed in one piece, in memory that is used again.
class BlockWriter {
  public:
    explicit BlockWriter(int descriptor) : descriptor_(descriptor), context_(::ZSTD_createCCtx()) {
        if (!context_) throw std::bad_alloc();
    }
    /// An error of the system, or 0.
    int write(std::span<const std::byte> contents) {
        compressed_.resize(::ZSTD_compressBound(contents.size()));
        const std::size_t stored =
            ::ZSTD_compressCCtx(context_.get(), compressed_.data(), compressed_.size(),
                                contents.data(), contents.size(), level);
        if (::ZSTD_isError(stored) != 0) throw std::bad_alloc();
        const std::span<const std::byte> block(compressed_.data(), stored);
        const BlockHeader header{contents.size(), stored, crc_of(contents.size(), block)};
        const int error = write_all(descriptor_, std::as_bytes(std::span(&header, 1)));
        return error != 0 ? error : write_all(descriptor_, block);
    }

  private:
    struct Free {
        void operator()(ZSTD_CCtx* context) const noexcept { ::ZSTD_freeCCtx(context); }
    };
    int descriptor_;
    std::unique_ptr<ZSTD_CCtx, Free> context_;
    std::vector<std::byte> compressed_;
};

std::vector<std::byte> read_block(StateReader& reader) {
    const auto header = state::loaded<BlockHeader>(reader);
    if (header.stored > reader.left()) reader.refuse("announces more bytes than there are");
    const auto stored = reader.bytes(static_cast<std::size_t>(header.stored));
    if (crc_of(header.bytes, stored) != header.crc) reader.refuse("does not have its checksum");
    const auto announced = ::ZSTD_getFrameContentSize(stored.data(), stored.size());
    if (announced != header.bytes) reader.refuse("is no block of a snapshot");
    std::vector<std::byte> contents(static_cast<std::size_t>(header.bytes));
    const std::size_t read =
        ::ZSTD_decompress(contents.data(), contents.size(), stored.data(), stored.size());
    if (read != contents.size()) reader.refuse("cannot be decompressed");
    return contents;
}

SnapshotDescription read_description(StateReader& reader) {
    const auto line = reader.bytes(std::min(first_line.size(), reader.left()));
    if (line.size() != first_line.size() ||
        std::memcmp(line.data(), first_line.data(), line.size()) != 0) {
        throw StateError("it is no snapshot that this version of Strid can read");
    }
    const auto block = read_block(reader);
    StateReader description{block};
    auto read = state::loaded<SnapshotDescription>(description);
    description.expect_end();
    return read;
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
    StateBytes bytes;
    StateWriter writer{bytes};
    state::save(writer, value);
    writer.flush();
    return bytes.take();
}

}  // namespace

SnapshotFolder::SnapshotFolder(std::string path) : path_(std::move(path)) {
    if (::mkdir(path_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        fail(path_, "cannot make the folder of snapshots", errno);
    }
    Open directory(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() < 0) fail(path_, "cannot open the folder of snapshots", errno);
    Open lock(::openat(directory.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                       S_IRUSR | S_IWUSR));
    if (lock.get() < 0) fail(path_, "cannot write to the folder of snapshots", errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) fail(path_, "cannot lock the folder of snapshots", errno);
        throw InputOutputError(path_ + ": another run takes its snapshots here");
    }
    directory_ = directory.release();
    lock_ = lock.release();
}

SnapshotFolder::~SnapshotFolder() {
    ::close(lock_);
    ::close(directory_);
}

void SnapshotFolder::fail(const std::string& file, const char* what, int error) const {
    throw InputOutputError(fmt::format("{}: {}: {}", file, what,
                                       std::generic_category().message(error)));
}

std::string SnapshotFolder::file_of(std::uint64_t number) const {
    return fmt::format("{:010}{}", number, ending);
}

std::vector<std::uint64_t> SnapshotFolder::numbers() const {
    struct Close {
        void operator()(DIR* directory) const noexcept { ::closedir(directory); }
    };
    Open own(::openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (own.get() < 0) fail(path_, "cannot read the folder of snapshots", errno);
    const std::unique_ptr<DIR, Close> stream(::fdopendir(own.get()));
    if (!stream) fail(path_, "cannot read the folder of snapshots", errno);
    (void)own.release();
    std::vector<std::uint64_t> numbers;
    while (const dirent* const entry = ::readdir(stream.get())) {
        std::string_view name(static_cast<const char*>(entry->d_name));
        if (!name.ends_with(ending)) continue;
        name.remove_suffix(ending.size());
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (error == std::errc{} && end == name.data() + name.size() && name.size() >= 10) {
            numbers.push_back(number);
        }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

std::vector<std::byte> SnapshotFolder::contents(std::uint64_t number) const {
    const std::string file = file_of(number);
    const Open opened(::openat(directory_, file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (opened.get() < 0) fail(path_ + "/" + file, "cannot open the snapshot", errno);
    struct stat status {};
    if (::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw StateError("it is no file");
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
    for (std::size_t at = 0; at != bytes.size();) {
        const ssize_t read = ::read(opened.get(), bytes.data() + at, bytes.size() - at);
        if (read < 0 && errno == EINTR) continue;
        if (read < 0) fail(path_ + "/" + file, "cannot read the snapshot", errno);
        if (read == 0) throw StateError("the file became shorter while it was read");
        at += static_cast<std::size_t>(read);
    }
    return bytes;
}

SnapshotDescription SnapshotFolder::describe(std::uint64_t number) const {
    const auto bytes = contents(number);
    StateReader reader{bytes};
    return read_description(reader);
}

Snapshot SnapshotFolder::read(std::uint64_t number) const {
    const auto bytes = contents(number);
    StateReader reader{bytes};
    Snapshot snapshot{read_description(reader), {}};
    for (const SnapshotNode& node : snapshot.description.nodes) {
        snapshot.states.push_back(node.has_ended ? std::vector<std::byte>{} : read_block(reader));
    }
    reader.expect_end();
    if (snapshot.description.number != number) throw StateError("it has another number inside");
    return snapshot;
}

std::optional<Snapshot> SnapshotFolder::newest(const SnapshotWarning& warn) const {
    const auto found = numbers();
    std::string last_fault;
    for (auto number = found.rbegin(); number != found.rend(); ++number) {
        try {
            return read(*number);
        } catch (const StateError& error) {
            last_fault = fmt::format("{}/{}: {}", path_, file_of(*number), error.what());
            if (warn) warn(last_fault + "; the snapshot before it is taken");
        }
    }
    if (!found.empty()) {
        throw StateError(last_fault + "; there is no other one: to begin anew, take another folder");
    }
    return std::nullopt;
}

void SnapshotFolder::store(const Snapshot& snapshot) {
    const std::string file = file_of(snapshot.description.number);
    const std::string beside = file + ".partial";
    const std::string shown = path_ + "/" + file;
    ::unlinkat(directory_, beside.c_str(), 0);  // of a process that was killed
    {
        const Open written(::openat(directory_, beside.c_str(),
                                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                    S_IRUSR | S_IWUSR));
        if (written.get() < 0) fail(shown, "cannot write the snapshot", errno);
        int error = write_all(written.get(), std::as_bytes(std::span(first_line)));
        BlockWriter blocks{written.get()};
        if (error == 0) error = blocks.write(bytes_of(snapshot.description));
        for (std::size_t i = 0; i != snapshot.states.size() && error == 0; ++i) {
            if (!snapshot.description.nodes[i].has_ended) error = blocks.write(snapshot.states[i]);
        }
        if (error == 0) error = patiently([&] { return ::fsync(written.get()); });
        if (error != 0) {
            ::unlinkat(directory_, beside.c_str(), 0);
            fail(shown, "cannot write the snapshot", error);
        }
    }
    if (::renameat(directory_, beside.c_str(), directory_, file.c_str()) != 0) {
        fail(shown, "cannot name the snapshot", errno);
    }
    if (const int error = patiently([&] { return ::fsync(directory_); }); error != 0) {
        fail(shown, "the snapshot may not be on the disk", error);
    }
    auto found = numbers();
    for (std::size_t i = 0; i + kept < found.size(); ++i) {
        ::unlinkat(directory_, file_of(found[i]).c_str(), 0);
    }
}

}  // namespace strid
