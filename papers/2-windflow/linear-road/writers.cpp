// SPDX-License-Identifier: Apache-2.0
#include "writers.hpp"

#include <iterator>

#include <fmt/format.h>

namespace strid::apps::linear_road {

namespace {

constexpr double seconds_to_answer = 5;

/// One cell. fmt::format_int is several times faster than a format with a string.
void append_cell(std::string& row, std::int64_t number) {
    const fmt::format_int digits(number);
    row.append(digits.data(), digits.size());
}
void append_cell(std::string& row, const AnswerWriter::EmitTime& emit) {
    append_cell(row, emit.second);
    if (emit.ms < 0) return;
    const fmt::format_int digits(1000 + emit.ms);
    row += '.';
    row.append(digits.data() + 1, 3);
}
template <class... Cells>
void append(std::string& row, int kind, const Cells&... cells) {
    row += static_cast<char>('0' + kind);
    (
        [&] {
            row += ',';
            append_cell(row, cells);
        }(),
        ...);
    row += '\n';
}

}  // namespace

double AnswerWriter::given_at(const Notice& answer) {
    const double second = timetable_->second_at(now_ns());
    if (second - answer.time > seconds_to_answer) late_.add();
    return second;
}

void AnswerWriter::write(const Notice& answer, double second) {
    std::string& rows = writer()->rows();
    switch (answer.kind) {
        case Notice::Kind::toll:
            append(rows, 0, answer.subject, answer.time, emit_of(answer, second), answer.detail,
                   answer.amount);
            break;
        case Notice::Kind::accident:
            append(rows, 1, answer.time, emit_of(answer, second), answer.subject, answer.detail);
            break;
        case Notice::Kind::balance:
            append(rows, 2, answer.time, emit_of(answer, second), answer.detail, answer.subject,
                   answer.amount);
            break;
        case Notice::Kind::expenditure:
            append(rows, 3, answer.time, emit_of(answer, second), answer.subject, answer.amount);
            break;
        default:
            return;  // not an answer
    }
    writer()->row_done();
}

AnswerWriter::EmitTime AnswerWriter::emit_of(const Notice& answer, double second) const noexcept {
    if (!timetable_) return {answer.time, -1};
    const auto ms = static_cast<std::int64_t>(second * 1e3);
    return {ms / 1000, static_cast<int>(ms % 1000)};
}

void EventWriter::operator()(const Event& event) {
    const auto out = std::back_inserter(writer()->rows());
    if (event.kind == Kind::position) {
        fmt::format_to(out, "0,{},{},{},{},{},{},{},{},-1,-1,-1,-1,-1,-1\n", event.time, event.car,
                       event.speed, event.expressway, event.lane, event.direction, event.segment,
                       event.position);
    } else {
        const int day = event.kind == Kind::expenditure ? event.day : -1;
        fmt::format_to(out, "{},{},{},-1,{},-1,-1,-1,-1,{},-1,-1,-1,-1,{}\n",
                       static_cast<int>(event.kind), event.time, event.car, event.expressway,
                       event.query, day);
    }
    writer()->row_done();
}

}  // namespace strid::apps::linear_road
