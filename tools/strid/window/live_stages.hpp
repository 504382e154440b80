// SPDX-License-Identifier: Apache-2.0
//
// The graph of `strid window` where rows are marked, windows are written early or filled in, or
// rows from the future set aside (live_options.hpp). Each live_*.cpp beside makes instances.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/operator/ahead_of_clock.hpp>
#include <strid/window/update.hpp>

#include "window_stages.hpp"

namespace strid::tool {

/// Writes rows as they come, with what each says of its window where that is asked for. Without
/// the column nothing would distinguish a removed window from one that stands: it is not written.
template <class Update>
class UpdateWriter {
  public:
    static constexpr FunctionTraits traits{
        .hears = events<Opened, Flush, Closed>, .has = Has::blocks | Has::files, .stateless = true};

    explicit UpdateWriter(const WindowJob& job)
        : writer_(job.output, job.writing),
          text_(job.plan),
          writes_revision_(job.rows.corrections) {}

    void on(const Opened& opened) {
        std::string header = text_.result_header();
        if (writes_revision_) header.insert(header.size() - 1, ",correction");
        writer_.open(header, opened.context);
    }
    void operator()(const Update& update) {
        if (!writes_revision_ && update.revision == Revision::retracted) return;
        std::string& rows = writer_.rows();
        text_.append(rows, update);
        if (writes_revision_) (rows += ',') += to_string(update.revision);
        rows += '\n';
        writer_.row_done();
    }
    void on(Flush) { writer_.flush(); }
    void on(Closed) { writer_.close(); }
    [[nodiscard]] bool blocks() const noexcept { return writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    RowWriter writer_;
    TableText text_;
    bool writes_revision_;
};

/// Lets rows pass that are not from the future; the others are written with those that are late.
template <class Row>
class SetAside {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, Closed>};

    SetAside(const WindowJob& job, LateWriter<Row> writer)
        : limit_(job.progress.future),
          is_asked_for_(job.progress.future != Duration::zero()),
          count_(job.set_aside),
          writer_(std::move(writer)) {}

    void on(const Opened& opened) { writer_.on(opened); }
    bool operator()(const Row& row) {
        if (!is_asked_for_ || !limit_.is_beyond(row.time)) return true;
        count_->fetch_add(1, std::memory_order_relaxed);
        writer_(row);
        return false;
    }
    void on(Flush flush) { writer_.on(flush); }
    void on(Closed closed) { writer_.on(closed); }
    auto state() { return writer_.state(); }

  private:
    ClockLimit limit_;
    bool is_asked_for_;
    std::shared_ptr<std::atomic<std::uint64_t>> count_;
    LateWriter<Row> writer_;
};

template <class Table, class Windows>
void build_live_windows(Graph& graph, const WindowJob& job, Windows windows) {
    using Row = TableRow<Table>;
    constexpr auto time_of = [](const Row& row) { return row.time; };
    constexpr std::uint64_t fill_max = 1'000'000;
    const UpdateOptions options{.window = job.window,
                                .early_every = job.rows.every,
                                .fill_max = job.rows.fills ? fill_max : 0};
    const LateWriter<Row> late_writer(job);
    auto [updates, late] =
        graph.source(MergedTables<Table>(job), {.name = "read"})
            .filter(SetAside<Row>(job, late_writer), {.name = "future"})
            .event_time(time_of, TableTime{job.progress}, {.name = "time"})
            .template key_by<&Row::key>()
            .window(windows, TableAggregate<Table>(job.plan), late_apart, options);
    using Update = typename decltype(updates)::record_type;
    std::move(updates).sink(UpdateWriter<Update>(job), {.name = "write"});
    std::move(late).sink(late_writer, {.name = "write-late"});
}

}  // namespace strid::tool
