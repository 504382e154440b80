// SPDX-License-Identifier: Apache-2.0
#include "writers.hpp"

#include <iterator>

#include <fmt/format.h>

namespace strid::apps::linear_road {

namespace {

constexpr double seconds_to_answer = 5;

}  // namespace

AnswerWriter::AnswerWriter(const std::string& path, Writing writing,
                           std::shared_ptr<Timetable> timetable)
    : timetable_(std::move(timetable)) {
    if (!path.empty()) writer_.emplace(path, writing);
}

void AnswerWriter::open(const Context& context) {
    if (writer_) writer_->open({}, context);
    if (timetable_) late_ = context.counter("late answers");
}

void AnswerWriter::flush() {
    if (writer_) writer_->flush();
}

void AnswerWriter::close() {
    if (writer_) writer_->close();
}

bool AnswerWriter::blocks() const noexcept {
    return writer_ && writer_->may_block();
}

std::vector<FileUse> AnswerWriter::files() const {
    return writer_ && names_file_ ? writer_->files() : std::vector<FileUse>{};
}

double AnswerWriter::given_at(const Notice& answer) {
    const double second = timetable_->second_at(now_ns());
    if (second - answer.time > seconds_to_answer) late_.add();
    return second;
}

void AnswerWriter::write(const Notice& answer, double second) {
    std::string& rows = writer_->rows();
    const auto out = std::back_inserter(rows);
    const std::string emit =
        timetable_ ? fmt::format("{:.3f}", second) : fmt::format("{}", answer.time);
    switch (answer.kind) {
        case Notice::Kind::toll:
            fmt::format_to(out, "0,{},{},{},{},{}\n", answer.subject, answer.time, emit,
                           answer.detail, answer.amount);
            break;
        case Notice::Kind::accident:
            fmt::format_to(out, "1,{},{},{},{}\n", answer.time, emit, answer.subject,
                           answer.detail);
            break;
        case Notice::Kind::balance:
            fmt::format_to(out, "2,{},{},{},{},{}\n", answer.time, emit, answer.detail,
                           answer.subject, answer.amount);
            break;
        case Notice::Kind::expenditure:
            fmt::format_to(out, "3,{},{},{},{}\n", answer.time, emit, answer.subject,
                           answer.amount);
            break;
        default:
            return;  // not an answer
    }
    writer_->row_done();
}

void EventWriter::operator()(const Event& event) {
    const auto out = std::back_inserter(writer_.rows());
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
    writer_.row_done();
}

}  // namespace strid::apps::linear_road
