// SPDX-License-Identifier: Apache-2.0
//
// The figures of a run in the text format of Prometheus, version 0.0.4. Functions without state;
// any thread.
#pragma once

#include <string>

#include <strid/stream/report.hpp>

namespace strid::operate {

/// The content type of these texts.
inline constexpr const char* prometheus_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// The figures of a report, as metrics `strid_...` with the label `graph`; those of an operator
/// have the labels `operator` and `kind`, those of a segment the label `segment`, the name of its
/// first operator. Times are seconds, sizes bytes. Latency is a histogram with a bucket for each
/// power of two of nanoseconds from about 1 us to 69 s. `is_running`: the run is not over.
[[nodiscard]] std::string prometheus_text(const RunReport& report, bool is_running);

/// Processor time, memory, open files and start of this process, with the names that clients of
/// Prometheus have for them, and the version of the library. Reads files of /proc; leaves out what
/// the system does not report.
[[nodiscard]] std::string prometheus_text_of_process();

}  // namespace strid::operate
