// SPDX-License-Identifier: Apache-2.0
//
// How JSON is read. Plain values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <strid/connector/csv_value.hpp>
#include <strid/connector/malformed.hpp>
#include <strid/connector/text_options.hpp>
#include <strid/state/journal.hpp>

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
    TextOptions text{};        ///< How text is read and how long an object may be.
    JournalOptions journal{};  ///< Of a pipe or a socket in a run with snapshots.
};

}  // namespace strid
