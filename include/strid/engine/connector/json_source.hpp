// SPDX-License-Identifier: Apache-2.0
//
// The part of a source of JSON objects that does not depend on the record: members as texts, and
// the texts of errors. See json_cutter.hpp for the inputs that are read, and json_row.hpp for the
// names of members. Derived: JsonLines<T>. Threads as in FileSource.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/csv_value.hpp>
#include <strid/connector/json_options.hpp>
#include <strid/engine/connector/file_source.hpp>
#include <strid/engine/connector/json_objects.hpp>

namespace strid {

class JsonSource : public FileSource {
  public:
    using FileSource::on;
    void on(const Opened& opened) {
        FileSource::on(opened);
        begin_input();
    }
    void on(Restored restored) {
        FileSource::on(restored);
        begin_input();
    }

  protected:
    /// `may_be_empty` gives for each field whether its member may be null or missing. Throws
    /// GraphError for options that do not fit it.
    JsonSource(std::string path, const JsonOptions& options, const std::vector<bool>& may_be_empty);

    /// Takes the object at position_.
    Row next_object() {
        const Row found = objects_.cut(*this);
        return found == Row::ready ? objects_.read(*this) : found;
    }
    /// The text of what fills the record's field `index`.
    [[nodiscard]] std::string_view text_of(std::size_t index) const noexcept {
        return objects_.text_of(index);
    }
    /// Refuses the object of next_object() because of its field `index`.
    void refuse_member(std::size_t index, detail::CsvFault fault) {
        objects_.refuse_column(*this, index, fault);
    }
    /// Refuses what the input ends in, or an object that is too long.
    void refuse_rest() { objects_.refuse_rest(*this); }
    void skip_to_line(std::uint64_t line) noexcept { objects_.skip_to_line(line); }
    [[nodiscard]] bool has_lines() const noexcept { return JsonObjects::are_lines(*this); }
    /// Before a range, in a copy that parses it.
    void begin_apart() noexcept { objects_.begin_input(); }
    [[nodiscard]] NonFinite non_finite() const noexcept { return non_finite_; }

  private:
    void begin_input() noexcept;

    NonFinite non_finite_;
    JsonObjects objects_;
};

}  // namespace strid
