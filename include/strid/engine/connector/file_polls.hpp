// SPDX-License-Identifier: Apache-2.0
//
// The templates of FileSource: the poll of every format, and the parsing of ranges. A part of
// engine/connector/file_source.hpp, which includes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <strid/engine/connector/file_source.hpp>
#include <strid/engine/connector/parsed_rows.hpp>

namespace strid {

template <class T, bool holds_text, class Emit, class Format>
SourceStatus FileSource::poll_records(Emit& emit, std::size_t budget, Format format) {
    static_assert(is_format<Format, T>);
    const SourceStatus status = emit_records<T, holds_text>(emit, budget, format);
    if (!malformed_) return status;  // another replica's
    if (const auto refused = malformed_->take_count()) emit.count_malformed(refused);
    if (needs_head_ && format.is_settled()) note_head();
    note_place();
    return status;
}

template <class T, class Format>
bool FileSource::pass_rows(Format format) {
    while (position_ != end_ && text_bytes() < std::min(pass_to_, emit_from_)) {
        T record{};
        if (format(record) == Row::partial) return true;
    }
    end_passing_at_its_end(format);
    return false;
}

template <class Format>
FileSource::Refill FileSource::refill_for(const Format& format, bool partial) {
    bool may_cut = false;
    if constexpr (Format::reads_ranges) {
        may_cut = ranges_ != nullptr && format.begin_ranges();
        if (partial && is_reading_ahead()) format.forget_partial();
    }
    const Refill refilled = refill(may_cut);
    end_passing_at_its_end(format);
    if constexpr (Format::reads_ranges) {
        if (has_parsed_rows() && !format.takes_parsed()) read_range_again();
    }
    return refilled;
}

template <class T, bool holds_text, class Emit, class Format>
SourceStatus FileSource::emit_records(Emit& emit, std::size_t budget, Format format) {
    if (!reader_) return SourceStatus::finished;
    const auto keep_text = [&] {
        if constexpr (holds_text) {
            if (position_ != end_ && !has_parsed_rows()) emit.keep_alive(text_chunk());
        }
    };
    keep_text();
    for (;;) {
        bool partial = false;
        if constexpr (Format::reads_ranges) {
            if (has_parsed_rows()) {
                if (!emit_parsed<T, holds_text>(emit, budget, format)) return SourceStatus::more;
                keep_text();
            }
        }
        if (pass_to_ != 0) {
            partial = pass_rows<T>(format);
            if (pass_to_ != 0) budget = std::min<std::size_t>(budget, 1);  // comes here after each
        }
        while (position_ != end_ && !partial) {
            if (budget == 0) return SourceStatus::more;
            T record{};
            const Row row = format(record);
            partial = row == Row::partial;
            if (row != Row::ready) {
                end_passing_at_its_end(format);
                continue;
            }
            --budget;
            if (!emit(std::move(record))) return SourceStatus::more;
        }
        const Refill refilled = refill_for(format, partial);
        if constexpr (Format::joins_lines) {
            if ((refilled == Refill::too_long || refilled == Refill::end) && position_ != end_) {
                format.refuse_partial();
                continue;
            }
        }
        switch (refilled) {
            case Refill::text:
                stamp_arrival(emit);
                format.begin_text();
                keep_text();
                if (pass_to_ != 0) return SourceStatus::more;  // a stop and others come in between
                break;
            case Refill::wait:
                return SourceStatus::idle;
            case Refill::no_chunk:
            case Refill::parsing:
                return SourceStatus::held;
            case Refill::too_long:
                drop_too_long();
                break;
            case Refill::stopped:
                if (position_ != end_ && format.pass_partial_at_stop()) break;
                report_cut_off();
                note_place();
                place_is_final_ = true;
                if (goes_on(format)) break;
                return SourceStatus::finished;
            case Refill::end:
                format.end_input();
                if (goes_on(format)) break;
                return SourceStatus::finished;
        }
    }
}

template <class T, bool holds_text, class Emit, class Format>
bool FileSource::emit_parsed(Emit& emit, std::size_t& budget, const Format& format) {
    auto& rows = static_cast<ParsedRows<T>&>(*range_);
    const bool all_out = rows.template emit_to<holds_text>(format.emit_of_parsed(emit), budget);
    if (rows.emitted() != 0) position_ = rows.row_ends[rows.emitted() - 1];
    if (!all_out) return false;
    end_parsed();
    format.behind_parsed(line_number_);
    return true;
}

template <class T, bool holds_text, class Emit, class Format>
void FileSource::parse_apart(ParsedRange& range, Emit& emit, Format format) {
    position_ = range.text.begin;
    end_ = range.text.end;
    line_number_ = 0;
    is_refused_ = false;
    apart_ = &range;
    format.begin_apart();
    if constexpr (holds_text) emit.keep_alive(range.text.chunk);
    while (position_ != end_) {
        T record{};
        Row row = Row::partial;
        try {
            row = format(record);
        } catch (...) {
            is_refused_ = true;  // thrown once more by the source, in the order of the rows
        }
        if (row == Row::partial || is_refused_) break;
        if (row == Row::ready) {
            emit(std::move(record));
            range.row_ends.push_back(position_);
        }
        range.parsed_to = position_;
        range.lines = line_number_;
    }
    range.changes.undo_from(range.parsed_to);
    range.has_rows = true;
    apart_ = nullptr;
}

}  // namespace strid
