// SPDX-License-Identifier: Apache-2.0
#include "csv_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid::tree {

namespace {

constexpr int wait_ms = 50;
constexpr CsvQuoteLimits quote_limits{SIZE_MAX, std::size_t{128} << 20};

std::string name_of(const std::string& path) {
    return path == "-" ? "standard input" : path;
}

std::string_view row_text(const char* begin, const char* next) {
    std::string_view text(begin, static_cast<std::size_t>(next - begin));
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

const char* fault_of(CsvRowStatus status) {
    switch (status) {
        case CsvRowStatus::row:
            return nullptr;
        case CsvRowStatus::text_after_quote:
            return "text after a closing quote";
        case CsvRowStatus::open_quote:
        case CsvRowStatus::quote_too_long:
            return "a quoted field is never closed";
    }
    return nullptr;
}

}  // namespace

void fail_at_line(const std::string& name, std::uint64_t line, const std::string& what) {
    throw InputOutputError(fmt::format("{}:{}: {}", excerpt(name, 4096), line, what));
}

CsvBlocks::CsvBlocks(std::string path, char delimiter, const std::atomic<bool>& interrupted)
    : name_(name_of(path)),
      delimiter_(delimiter),
      interrupted_(interrupted),
      reader_(std::move(path), TextOptions{}, false) {
    read_header();
}

void CsvBlocks::fail(std::uint64_t line, const std::string& what) const {
    fail_at_line(name_, line, what);
}

// Reads until there are lines that were not there before; false at the end of the input.
bool CsvBlocks::more() {
    for (;;) {
        if (interrupted_.load(std::memory_order_relaxed)) throw Interrupted();
        const LineReader::Status status = reader_.read_more(position_, wait_ms);
        position_ = reader_.begin();  // unread bytes may have moved
        switch (status) {
            case LineReader::Status::text:
                return true;
            case LineReader::Status::waiting:
            case LineReader::Status::no_chunk:
                break;
            case LineReader::Status::too_long:
                fail(line_, "the line is too long");
            case LineReader::Status::end:
                if (position_ != reader_.end()) fail(line_, fault_of(CsvRowStatus::open_quote));
                return false;
        }
    }
}

void CsvBlocks::read_header() {
    bool first = true;
    for (;;) {
        if (position_ == reader_.end() || reader_.end() == nullptr) {
            if (!more()) {
                throw InputOutputError(
                    fmt::format("{}: the input is empty: a table begins with the names of its "
                                "columns",
                                excerpt(name_, 4096)));
            }
        }
        if (std::exchange(first, false) && reader_.end() - position_ >= 3 &&
            std::memcmp(position_, "\xEF\xBB\xBF", 3) == 0) {
            position_ += 3;
        }
        const CsvRow row = cutter_.cut(position_, reader_.end(), delimiter_, quote_limits);
        if (row.status == CsvRowStatus::open_quote) {
            if (!more()) fail(line_, fault_of(row.status));
            continue;
        }
        if (row.status != CsvRowStatus::row) fail(line_, fault_of(row.status));
        header_ = row_text(position_, row.next);
        line_ += 1 + row.lines;
        position_ = row.next;
        if (!header_.empty()) break;
    }
    for (CsvField& field : cutter_.fields()) {
        std::string name(detail::trimmed(unescape_csv(field)));
        if (name.empty()) name = fmt::format("column {}", names_.size() + 1);
        if (!places_.emplace(name, names_.size()).second) {
            fail(line_ - 1, fmt::format("the header has two columns '{}'", excerpt(name)));
        }
        names_.push_back(std::move(name));
    }
}

// The end of the last whole row of [position_, reader_.end()). A quote hides newlines only where
// there is one, which is looked for first.
char* CsvBlocks::end_of_rows() {
    char* const end = reader_.end();
    if (std::memchr(position_, '"', static_cast<std::size_t>(end - position_)) == nullptr) {
        return end;
    }
    char* at = position_;
    while (at != end) {
        const CsvRow row = cutter_.cut(at, end, delimiter_, quote_limits);
        if (row.status == CsvRowStatus::open_quote) break;
        at = row.next;
    }
    return at;  // an open row is cut on from where it was looked at, when more of it has come
}

bool CsvBlocks::next(CsvBlock& block) {
    for (;;) {
        if (position_ == reader_.end() && !more()) return false;
        char* const end = end_of_rows();
        if (end == position_) {  // one row, of which more is needed
            if (!more()) return false;
            continue;
        }
        const auto size = static_cast<std::size_t>(end - position_);
        block.text = std::make_unique_for_overwrite<char[]>(size + LineReader::slack_bytes);
        block.begin = block.text.get();
        block.end = std::copy(position_, end, block.begin);
        std::fill_n(block.end, LineReader::slack_bytes, '\0');
        block.line = line_;
        line_ += static_cast<std::uint64_t>(std::count(position_, end, '\n'));
        position_ = end;
        return true;
    }
}

// In a copy: the block may be read again.
std::string_view BlockRows::unescaped(const CsvField& field) {
    unescaped_ = field.text();
    CsvField copy{unescaped_.data(), unescaped_.data() + unescaped_.size(), true};
    return unescape_csv(copy);
}

bool BlockRows::next() {
    while (next_ != end_) {
        char* const begin = next_;
        const CsvRow row = cutter_.cut(begin, end_, delimiter_, quote_limits);
        line_ = next_line_;
        if (row.status != CsvRowStatus::row) fail_at_line(name_, line_, fault_of(row.status));
        next_ = row.next;
        next_line_ += 1 + row.lines;
        text_ = row_text(begin, next_);
        if (text_.empty()) continue;
        const std::size_t found = cutter_.fields().size();
        if (found != fields_) {
            fail_at_line(name_, line_,
                         fmt::format("expected {} field{}, found {}", fields_,
                                     fields_ == 1 ? "" : "s", found));
        }
        return true;
    }
    return false;
}

}  // namespace strid::tree
