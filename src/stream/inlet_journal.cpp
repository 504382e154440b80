// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include <strid/base/error.hpp>
#include <strid/engine/state/journal_log.hpp>
#include <strid/engine/stream/inlet_journal.hpp>

namespace strid::detail {

namespace {

/// The stream has ended: the files go.
class JournalAtEnd final : public RunScope::Result {
  public:
    explicit JournalAtEnd(std::shared_ptr<JournalLog> log) : log_(std::move(log)) {}
    void commit() override {}
    void finish() override { log_->remove_all(); }
    void discard() noexcept override {}

  private:
    std::shared_ptr<JournalLog> log_;
};

std::shared_ptr<JournalLog> open_log(const JournalOptions& options, RunScope* run) {
    if (run == nullptr || !run->takes_snapshots()) refuse_journal_without_snapshots(options.folder);
    auto log = std::make_shared<JournalLog>(options, JournalKind::records, run->begins_anew(),
                                            [run](const std::string& text) { run->warn(text); });
    run->add(std::make_shared<JournalAtEnd>(log));
    return log;
}

}  // namespace

void check_inlet_journal(const JournalOptions& options) {
    if (!options.on()) throw GraphError("a journalled inlet needs the folder of its journal");
    if (options.acknowledges) {
        throw GraphError(options.folder + ": an inlet has accepted(), and no socket to tell");
    }
    check_journal_options(options);
}

static_assert(InletJournal::header_bytes == sizeof(JournalRecords));
static_assert(InletJournal::block_bytes_max == journal_block_bytes_max);

InletJournal::InletJournal(const JournalOptions& options, const std::string& type, RunScope* run)
    : log_(open_log(options, run)),
      run_(run),
      type_(type),
      type_crc_(static_cast<std::uint32_t>(
          ::crc32_z(0, reinterpret_cast<const Bytef*>(type.data()), type.size()))),
      place_{.journal = log_->id()} {}

void InletJournal::go_on(const Place& place) {
    place_ = place;
    log_->go_on(place.journal,
                {.bytes = place.bytes, .lines = place.records, .line_bytes = place.bytes}, 0);
}

std::uint64_t InletJournal::accepted() const noexcept {
    return log_->end().lines;
}

std::optional<InletJournal::Records> InletJournal::read_again() {
    if (place_.bytes == log_->end().bytes) return std::nullopt;
    const std::string_view block = log_->at(place_.bytes, log_->end().bytes);
    JournalRecords header;
    if (block.size() >= sizeof header) std::memcpy(&header, block.data(), sizeof header);
    if (block.size() < sizeof header || header.type != type_crc_) {
        throw InputOutputError(fmt::format(
            "{}: the journal has records of another type than {}: run the program that has "
            "accepted them, and stop it at a snapshot",
            log_->path(), type_));
    }
    place_.bytes += block.size();
    place_.records += header.count;
    return Records{header.count,
                   std::as_bytes(std::span(block.data(), block.size()).subspan(sizeof header))};
}

bool InletJournal::append(std::vector<std::byte> block, std::size_t count) {
    if (block.size() > journal_block_bytes_max) {
        throw InputOutputError(
            fmt::format("{}: a record of {} bytes was pushed, and a journal takes {} at most",
                        log_->path(), block.size(), journal_block_bytes_max));
    }
    log_->end_reading();
    const JournalRecords header{static_cast<std::uint32_t>(count), type_crc_};
    std::memcpy(block.data(), &header, sizeof header);
    if (!log_->append({reinterpret_cast<const char*>(block.data()), block.size()})) return false;
    place_.bytes = log_->end().bytes;
    place_.records = log_->end().lines;
    return true;
}

void InletJournal::synchronize_if_due() {
    log_->synchronize_if_due();
}

std::int64_t InletJournal::wake_at_ns() const noexcept {
    return log_->is_full() ? log_->retry_at_ns() : log_->synchronize_at_ns();
}

void InletJournal::begin_snapshot(std::uint64_t number) {
    log_->begin_snapshot(number, place_.bytes, 0, run_->oldest_needed());
}

}  // namespace strid::detail
