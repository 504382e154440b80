// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <strid/engine/base/text.hpp>
#include <strid/engine/connector/json_cutter.hpp>
#include <strid/engine/connector/json_row.hpp>

namespace strid {

namespace {

constexpr char record_separator = '\x1e';
constexpr const char* not_an_object = "not a JSON object: objects, and arrays of them, are rows";

bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::size_t distance(const char* from, const char* to) noexcept {
    return static_cast<std::size_t>(to - from);
}

}  // namespace

char JsonCutter::region_end(std::string_view first) noexcept {
    return region_end_of(first, "{[]");
}

char JsonCutter::region_end_of_json(std::string_view first) noexcept {
    return region_end_of(first, {});
}

// `behind_bracket`: with what an array begins, any byte where that is empty.
char JsonCutter::region_end_of(std::string_view first, std::string_view behind_bracket) noexcept {
    const auto next = [&first](std::string_view blanks) {
        first.remove_prefix(std::min(first.find_first_not_of(blanks), first.size()));
        return first.empty() ? '\0' : first.front();
    };
    if (first.size() < byte_order_mark.size() && byte_order_mark.starts_with(first)) return '\0';
    first = without_byte_order_mark(first);
    switch (next(" \t\r\n")) {
        case '\0':
            return '\0';
        case record_separator:
            return '}';
        case '{': {
            first.remove_prefix(1);
            const char behind = next(" \t\r");
            return behind == '\0' ? '\0' : behind == '\n' ? '}' : '\n';
        }
        case '[': {
            if (behind_bracket.empty()) return '}';
            first.remove_prefix(1);
            const char behind = next(" \t\r\n");
            if (behind == '\0') return '\0';
            return behind_bracket.find(behind) == std::string_view::npos ? '\n' : '}';
        }
        default:
            return '\n';
    }
}

JsonCutter::Cut JsonCutter::cut(char* position, char* end, bool has_documents) {
    return has_documents ? cut_document(position, end) : cut_line(position, end);
}

JsonCutter::Cut JsonCutter::cut_line(char* position, char* end) {
    auto* const newline = static_cast<char*>(std::memchr(position, '\n', distance(position, end)));
    const bool is_empty = std::all_of(position, newline, is_blank);
    return {is_empty ? Status::nothing : Status::object,
            position,
            distance(position, newline),
            newline + 1,
            ++lines_,
            nullptr};
}

JsonCutter::Cut JsonCutter::cut_document(char* position, char* end) {
    char* p = position;
    if (scanned_ == 0) {
        while (p != end && is_blank(*p)) ++p;
        count_lines(position, p);
        if (p == end) return {Status::nothing, p, 0, p, lines_ + 1, nullptr};
        if (*p != '{') {
            if (std::string_view("[],\x1e").find(*p) != std::string_view::npos) {
                return pass_separator(p);
            }
            return junk(p, end);
        }
        if (place_ == Place::comma) {
            place_ = Place::next;
            return fault(p, p, "no comma before an object of an array");
        }
        begin_object();
    }
    char* const begin = p;
    p += scanned_;
    const bool is_whole = scan(p, end);
    scanned_ = distance(begin, p);
    if (!is_whole) return {Status::partial, begin, scanned_, begin, lines_ + 1, nullptr};
    scanned_ = 0;
    if (place_ != Place::outside) place_ = Place::comma;
    if (is_cut_off_) {
        if (place_ != Place::outside && *p == '{') place_ = Place::next;
        return fault(begin, p, "the object is not closed before the next one begins");
    }
    const Cut cut{Status::object, begin, distance(begin, p), p, lines_ + 1, nullptr};
    count_lines(begin, p);
    return cut;
}

// Brackets of arrays, commas between objects and record separators.
JsonCutter::Cut JsonCutter::pass_separator(char* p) {
    const Place before = place_;
    ends_line_ = false;
    const Cut passed{Status::nothing, p, 0, p + 1, lines_ + 1, nullptr};
    switch (*p) {
        case record_separator:
            arrays_ = 0;
            if (std::exchange(place_, Place::outside) == Place::outside) return passed;
            return fault(p, p + 1, "the array is not closed");
        case '[':
            ++arrays_;
            place_ = Place::first;
            if (before == Place::outside) return passed;
            return fault(p, p + 1, "an array in an array: objects of one array are rows");
        case ']':
            if (arrays_ > 0) --arrays_;
            place_ = arrays_ > 0 ? Place::comma : Place::outside;
            if (before == Place::first || before == Place::comma) return passed;
            return fault(p, p + 1,
                         before == Place::outside ? "a ] without its [" : "a comma too many");
        default:
            if (before != Place::outside) place_ = Place::next;
            if (before == Place::comma) return passed;
            return fault(p, p + 1,
                         before == Place::outside ? "a comma between objects that are in no array"
                                                  : "a comma too many");
    }
}

// Text that is neither an object nor between objects, up to where one may begin.
JsonCutter::Cut JsonCutter::junk(char* begin, char* end) {
    const std::string_view rest(begin + 1, distance(begin + 1, end));
    const auto stop = std::min(rest.find_first_of("\n,]{\x1e"), rest.size());
    if (place_ != Place::outside) place_ = Place::comma;
    return fault(begin, begin + 1 + stop, not_an_object);
}

JsonCutter::Cut JsonCutter::fault(char* begin, char* end, const char* reason) {
    const Cut cut{Status::fault, begin, distance(begin, end), end, lines_ + 1, reason};
    count_lines(begin, end);
    return cut;
}

void JsonCutter::begin_object() noexcept {
    open_.clear();
    deeper_ = 0;
    before_ = ':';
    in_string_ = is_escaped_ = begins_line_ = is_cut_off_ = false;
}

/// Whether a value, which an object may be, can stand here.
bool JsonCutter::may_hold_object() const noexcept {
    if (before_ == ':') return true;
    return !open_.empty() && open_.back() == '[' && (before_ == '[' || before_ == ',');
}

// A wrong bracket closes what it would close were it right: the JsonRow refuses the object.
void JsonCutter::close(char bracket) {
    if (deeper_ > 0) {
        --deeper_;
        return;
    }
    const auto opened = open_.rfind(bracket == '}' ? '{' : '[');
    if (opened != std::string::npos) open_.resize(opened);
}

// From `p`, where the object goes on, to behind it. False: it goes on behind `end`.
bool JsonCutter::scan(char*& p, char* end) {
    for (; p != end; ++p) {
        const char c = *p;
        if (in_string_ && c != '\n' && c != record_separator) {
            if (std::exchange(is_escaped_, false)) continue;
            if (c == '\\') is_escaped_ = true;
            if (c == '"') in_string_ = false;
            continue;
        }
        in_string_ = is_escaped_ = false;  // no string goes over a line: its quote was a wrong one
        if (is_blank(c)) {
            begins_line_ = begins_line_ || c == '\n';
            continue;
        }
        if (c == record_separator || (c == '{' && begins_line_ && !may_hold_object())) {
            is_cut_off_ = true;
            return true;
        }
        begins_line_ = false;
        before_ = c;
        if (c == '"') {
            in_string_ = true;
        } else if (c == '{' || c == '[') {
            if (open_.size() > JsonRow::depth_max) {
                ++deeper_;
            } else {
                open_ += c;
            }
        } else if (c == '}' || c == ']') {
            close(c);
            if (open_.empty()) {
                ++p;
                return true;
            }
        }
    }
    return false;
}

JsonCutter::Cut JsonCutter::finish(char* position, char* end) {
    const bool is_inside = scanned_ != 0;
    const bool is_in_array = place_ != Place::outside;
    scanned_ = 0;
    place_ = Place::outside;
    arrays_ = 0;
    if (is_inside) return fault(position, end, "the object is not closed: the input ends in it");
    if (is_in_array) {
        const auto line = lines_ + (ends_line_ ? 0 : 1);
        return {Status::fault, end, 0, end, line, "the array is not closed: the input ends in it"};
    }
    return {Status::nothing, end, 0, end, lines_ + 1, nullptr};
}

void JsonCutter::count_lines(const char* begin, const char* end) noexcept {
    if (begin == end) return;
    lines_ += static_cast<std::uint64_t>(std::count(begin, end, '\n'));
    ends_line_ = end[-1] == '\n';
}

}  // namespace strid
