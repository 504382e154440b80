// SPDX-License-Identifier: Apache-2.0
//
// The sinks: answers as rows (README.md, "Output"), and events as lines of the benchmark's input.
// Replicas share a file, row by row. One thread at a time each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <strid/connector/row_writer.hpp>
#include <strid/operator/contract.hpp>

#include "records.hpp"
#include "timetable.hpp"

namespace strid::apps::linear_road {

/// Also counts the answers that are given more than 5 seconds of the input's clock behind the time
/// of their event, as "late answers", where there is a timetable.
class AnswerWriter {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .parallel_by_default = true,
                                           .stateless = true};

    struct EmitTime {
        std::int64_t second;
        int ms;  ///< -1: not measured
    };

    /// An empty path: rows are not written. `timetable` may be null.
    AnswerWriter(const std::string& path, Writing writing, std::shared_ptr<Timetable> timetable);
    /// Another sink that writes to the same file.
    [[nodiscard]] AnswerWriter beside() const {
        AnswerWriter other{*this};
        other.names_file_ = false;
        return other;
    }

    void on(const Opened& opened);
    void operator()(const Notice& answer) {
        double second = answer.time;
        if (timetable_) second = given_at(answer);
        if (writer_) write(answer, second);
    }
    void on(Flush);
    void on(Closed);
    [[nodiscard]] bool blocks() const noexcept;
    [[nodiscard]] std::vector<FileUse> files() const;

  private:
    /// The time of the input's clock; counts the answer where it is late.
    double given_at(const Notice& answer);
    void write(const Notice& answer, double second);
    [[nodiscard]] EmitTime emit_of(const Notice& answer, double second) const noexcept;

    std::shared_ptr<Timetable> timetable_;
    std::optional<RowWriter> writer_;
    Counter late_;
    bool names_file_ = true;
};

class EventWriter {
  public:
    static constexpr FunctionTraits traits{
        .hears = events<Opened, Flush, Closed>, .has = Has::blocks | Has::files, .stateless = true};

    explicit EventWriter(const std::string& path, Writing writing) : writer_(path, writing) {}

    void on(const Opened& opened) { writer_.open({}, opened.context); }
    void operator()(const Event& event);
    void on(Flush) { writer_.flush(); }
    void on(Closed) { writer_.close(); }
    [[nodiscard]] bool blocks() const noexcept { return writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    RowWriter writer_;
};

}  // namespace strid::apps::linear_road
