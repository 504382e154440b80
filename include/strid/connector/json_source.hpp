// SPDX-License-Identifier: Apache-2.0
//
// The part of a source of JSON objects that does not depend on the record: members as texts, and
// the texts of errors. See json_cutter.hpp for the inputs that are read, and json_row.hpp for the
// names of members. Derived: JsonLines<T>. Threads as in FileSource.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/csv_value.hpp>
#include <strid/engine/connector/file_source.hpp>
#include <strid/engine/connector/json_cutter.hpp>
#include <strid/engine/connector/json_row.hpp>

namespace strid {

/// How JSON is read.
struct JsonOptions {
    /// Which member fills which field of the record, in the order of the fields: `sensor.id` is the
    /// member `id` of the object `sensor`. Others are passed over.
    std::vector<std::string> members{};
    /// Whether the words nan and inf are numbers.
    NonFinite non_finite = NonFinite::reject;
    OnMalformed on_malformed = OnMalformed::stop;  ///< The action for an object that is no record.
    std::string dead_letter_path{};                ///< see MalformedOptions
    Writing dead_letters = Writing::whole;  ///< when the file of dead_letter_path gets its rows
    /// Called with each refused object, by the thread of the replica.
    std::function<void(const MalformedLine&)> dead_letter{};
    TextOptions text{};  ///< How text is read and how long an object may be.
};

class JsonSource : public FileSource {
  public:
    using FileSource::on;
    void on(const Opened& opened);

  protected:
    /// `may_be_empty` gives for each field whether its member may be null or missing. Throws
    /// GraphError for options that do not fit it.
    JsonSource(std::string path, JsonOptions options, const std::vector<bool>& may_be_empty);

    /// Takes the object at position_.
    Row next_object();
    /// The text of what fills the record's field `index`.
    [[nodiscard]] std::string_view text_of(std::size_t index) const noexcept {
        return row_.text(index);
    }
    /// Refuses the object of next_object() because of its field `index`.
    void refuse_member(std::size_t index, detail::CsvFault fault);
    /// Refuses what the input ends in, or an object that is too long.
    void refuse_rest();
    [[nodiscard]] NonFinite non_finite() const noexcept { return non_finite_; }

  private:
    void refuse_object(std::string_view reason);

    NonFinite non_finite_;
    bool keeps_text_;  // of what is refused: reading changes escapes
    bool is_started_ = false;
    JsonCutter cutter_;
    JsonRow row_;
    std::string_view text_;
    std::string as_it_stood_;
};

}  // namespace strid
