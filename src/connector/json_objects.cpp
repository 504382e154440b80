// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>
#include <strid/engine/connector/json_objects.hpp>

namespace strid {

FileSource::Row JsonObjects::cut(FileSource& source) {
    using Row = FileSource::Row;
    const bool has_documents = source.apart_ == nullptr && source.reader_->region_end() == '}';
    const auto cut = cutter_.cut(source.position_, source.end_, has_documents);
    source.position_ = cut.next;
    source.line_number_ = cut.line;
    begin_ = cut.text;
    text_ = {cut.text, cut.bytes};
    switch (cut.status) {
        using enum JsonCutter::Status;
        case nothing:
            return Row::none;
        case partial:
            return Row::partial;
        case fault:
            source.refuse(cut.line, cut.reason, text_);
            return Row::none;
        case object:
            break;
    }
    if (text_.size() <= source.line_bytes_max()) return Row::ready;
    source.refuse_too_long(text_);
    return Row::none;
}

FileSource::Row JsonObjects::read(FileSource& source) {
    if (keeps_text_) as_it_stood_ = text_;
    if (source.apart_ != nullptr && text_.find('\\') != std::string_view::npos) {
        source.note_change(begin_, text_.size());  // escapes are taken out in place
    }
    const std::string fault = row_.read(begin_, text_.size());
    if (fault.empty()) return FileSource::Row::ready;
    refuse(source, fault);
    return FileSource::Row::none;
}

void JsonObjects::refuse(FileSource& source, std::string_view reason) {
    source.refuse(source.line_number_, reason,
                  keeps_text_ ? std::string_view(as_it_stood_) : text_);
}

void JsonObjects::refuse_column(FileSource& source, std::size_t column, detail::CsvFault fault) {
    refuse(source, fmt::format("member '{}': {}: \"{}\"", excerpt(row_.name(column)), fault,
                               excerpt(row_.text(column))));
}

void JsonObjects::refuse_rest(FileSource& source) {
    const auto cut = cutter_.finish(source.position_, source.end_);
    source.position_ = source.end_;
    if (cut.status != JsonCutter::Status::fault) return;
    source.line_number_ = cut.line;
    const std::string_view rest(cut.text, cut.bytes);
    if (rest.size() > source.line_bytes_max()) return source.refuse_too_long(rest);
    source.refuse(cut.line, cut.reason, rest);
}

}  // namespace strid
