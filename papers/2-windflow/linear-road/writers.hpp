// SPDX-License-Identifier: Apache-2.0
//
// The sinks: answers as rows (README.md, "Output"), and events as lines of the benchmark's input.
// Threads as in RowSink.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/row_sink.hpp"
#include "records.hpp"
#include "timetable.hpp"

namespace strid::apps::linear_road {

/// Also counts the answers that are given more than 5 seconds of the input's clock behind the time
/// of their event, as "late answers", where there is a timetable.
class AnswerWriter : public RowSink {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .parallel_by_default = true,
                                           .stateless = true};

    struct EmitTime {
        std::int64_t second;
        int ms;  ///< -1: not measured
    };

    /// An empty path: rows are not written. `timetable` may be null.
    AnswerWriter(const std::string& path, Writing writing, std::shared_ptr<Timetable> timetable)
        : RowSink(path, writing), timetable_(std::move(timetable)) {}
    /// Another sink that writes to the same file.
    [[nodiscard]] AnswerWriter beside() const {
        AnswerWriter other{*this};
        other.names_file_ = false;
        return other;
    }

    using RowSink::on;
    void on(const Opened& opened) {
        RowSink::on(opened);
        if (timetable_) late_ = opened.context.counter("late answers");
    }
    void operator()(const Notice& answer) {
        double second = answer.time;
        if (timetable_) second = given_at(answer);
        if (writer() != nullptr) write(answer, second);
    }
    [[nodiscard]] std::vector<FileUse> files() const {
        return names_file_ ? RowSink::files() : std::vector<FileUse>{};
    }

  private:
    /// The time of the input's clock; counts the answer where it is late.
    double given_at(const Notice& answer);
    void write(const Notice& answer, double second);
    [[nodiscard]] EmitTime emit_of(const Notice& answer, double second) const noexcept;

    std::shared_ptr<Timetable> timetable_;
    Counter late_;
    bool names_file_ = true;
};

class EventWriter : public RowSink {
  public:
    /// `path` is not empty.
    EventWriter(const std::string& path, Writing writing) : RowSink(path, writing) {}

    void operator()(const Event& event);
};

}  // namespace strid::apps::linear_road
