// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/json_source.hpp>

namespace strid {

namespace {

std::vector<JsonColumn> columns_of(const std::vector<std::string>& members,
                                   const std::vector<bool>& may_be_empty) {
    if (members.size() != may_be_empty.size()) {
        throw GraphError(fmt::format("json_lines: {} members for a record of {} fields",
                                     members.size(), may_be_empty.size()));
    }
    std::vector<JsonColumn> columns;
    for (std::size_t i = 0; i < members.size(); ++i) {
        columns.push_back({members[i], may_be_empty[i], may_be_empty[i]});
    }
    return columns;
}

}  // namespace

JsonSource::JsonSource(std::string path, const JsonOptions& options,
                       const std::vector<bool>& may_be_empty)
    : FileSource({std::move(path)}, options),
      non_finite_(options.non_finite),
      keeps_text_(options.on_malformed == OnMalformed::dead_letter),
      row_(columns_of(options.members, may_be_empty)) {}

void JsonSource::begin_input() noexcept {
    cutter_.forget();
    if (reader_) reader_->choose_region_end(&JsonCutter::region_end_of_json);
}

JsonSource::Row JsonSource::next_object() {
    const auto cut = cutter_.cut(position_, end_, reader_->region_end() == '}');
    position_ = cut.next;
    line_number_ = cut.line;
    text_ = {cut.text, cut.bytes};
    switch (cut.status) {
        using enum JsonCutter::Status;
        case nothing:
            return Row::none;
        case partial:
            return Row::partial;
        case fault:
            refuse(line_number_, cut.reason, text_);
            return Row::none;
        case object:
            break;
    }
    if (text_.size() > line_bytes_max()) {
        refuse_too_long(text_);
        return Row::none;
    }
    if (keeps_text_) as_it_stood_ = text_;
    const std::string fault = row_.read(cut.text, cut.bytes);
    if (fault.empty()) return Row::ready;
    refuse_object(fault);
    return Row::none;
}

void JsonSource::refuse_member(std::size_t index, detail::CsvFault fault) {
    refuse_object(fmt::format("member '{}': {}: \"{}\"", excerpt(row_.name(index)), fault,
                              excerpt(text_of(index))));
}

void JsonSource::refuse_object(std::string_view reason) {
    refuse(line_number_, reason, keeps_text_ ? std::string_view(as_it_stood_) : text_);
}

void JsonSource::refuse_rest() {
    const auto cut = cutter_.finish(position_, end_);
    position_ = end_;
    if (cut.status != JsonCutter::Status::fault) return;
    line_number_ = cut.line;
    const std::string_view rest(cut.text, cut.bytes);
    if (rest.size() > line_bytes_max()) return refuse_too_long(rest);
    refuse(line_number_, cut.reason, rest);
}

}  // namespace strid
