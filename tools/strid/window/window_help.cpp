// SPDX-License-Identifier: Apache-2.0
#include "window_help.hpp"

#include <fmt/format.h>

#include "table_plan.hpp"

namespace strid::tool {

namespace {

constexpr const char* description =
    "Compute windows over a table: CSV or JSON lines in, one row of CSV out for each window of "
    "each key, written when the window is complete";

/// Its braces are the limits of `TablePlan`.
constexpr const char* footer =
    "Windows:     tumbling:10s   sliding:10s/1s (length/slide)   session:30s (gap)\n"
    "             count:1000   count:1000/25   (records of the key; they need no --time)\n"
    "             1d, 1w (from Monday), 1mo, 1q and 1y are calendar days, ... of the --zone:\n"
    "             tumbling:1mo   sliding:7d/1d\n"
    "Times:       numbers of the --unit (1711848600.25), 2024-03-31T01:30:00.5+02:00,\n"
    "             20240331T013000Z, 2024-03-31 1:30, 2024/03/31 01:30:00 UTC,\n"
    "             03/31/2024 01:30:00 AM, 31/Mar/2024:01:30:00 +0200; others by --time-format:\n"
    "             %Y %y %m %d %e %j %b %B %H %I %M %S %f %p %z %Z %s %a %A %F %T %R %D. Offsets\n"
    "             have names, too: UTC, CEST, EST. Times without an offset are of the --zone:\n"
    "             where clocks show them twice as --ambiguous says, by the offset before where\n"
    "             they show them never\n"
    "Aggregates:  count count(x) sum(x) mean(x) min(x) max(x) stddev(x) var(x) median(x) p99.9(x)\n"
    "             distinct(x) distinct_approximately(x) first(x) last(x) min_by(x, y) max_by(x, "
    "y)\n"
    "             rate rate(x) top(3, x) bottom(3, x) most_frequent(3, x) collect(x) collect(9, "
    "x);\n"
    "             names in any case, avg is mean, count(*) is count; sum(x) as total names the\n"
    "             column of the result. first and last go by time,\n"
    "             min_by is x where y is smallest, of equal ones the earliest. rate is of rows,\n"
    "             rate(x) of the sum of x, per second of the window's length. top and bottom are\n"
    "             the largest and smallest numbers; collect has 1,000 values at most, or as many\n"
    "             as it says, and ends in ... where there were more. A list is one field, in\n"
    "             quotes, that holds a row of CSV.\n"
    "             stddev and var are those of a sample; quantiles are exact up to 65,536 values\n"
    "             in a window, 16,384 in one that slides, while the open windows keep them in\n"
    "             256 MiB, and sketched above;\n"
    "             distinct_approximately is exact up to 2,048 different values, has a standard\n"
    "             error of 0.8 % above and takes 16 KB at most. Empty fields are passed over.\n"
    "             At most {} keys, {} columns of values and {} aggregates\n"
    "Numbers:     integers stay exact from -2^63 to 2^64 - 1, and their sums in 128 bits; others\n"
    "             are the nearest double. Where a column has both, the sum is that of the "
    "integers\n"
    "             and that of the decimals, and min and max compare exactly; p0 is min, p100 is\n"
    "             max. true is 1 and false is 0. A result beyond the\n"
    "             largest double is written inf. What is no finite number makes a row malformed,\n"
    "             where it is not taken as a text: by count, distinct, first, last, min_by (x),\n"
    "             max_by (x), most_frequent and collect\n"
    "Columns:     by their name in the first line, or by number from 1 with --no-header; a name\n"
    "             with a comma stands in quotes: --key '\"last, first\"' --aggregate "
    "'sum(\"a,b\")'\n"
    "CSV:         a row has as many fields as the first line; a header that comes again is passed\n"
    "             over. A quote that nothing closes makes its line malformed after --quoted-lines\n"
    "JSON:        an object a line, or arrays of objects, objects over several lines, or those of\n"
    "             RFC 7464; columns are members, a.b the member b of the object a. Strings\n"
    "             are read as the fields of CSV are; numbers stay as they are written. A value\n"
    "             that is missing or null is passed over, as an empty field is; a key that is\n"
    "             null is an empty one. A row without a time or a key is malformed\n"
    "Output:      the keys, window_start, window_end (not included), the aggregates in order.\n"
    "             The windows of a key come in order, those of different keys as they are ready.\n"
    "             Bounds are written in the form of the first row that is taken, or as\n"
    "             --output-times says; those of count windows are the position of the first\n"
    "             record and one past the last; a session ends one gap after its last record.\n"
    "             Integers need lengths, slides and gaps of whole --units, and patterns such as\n"
    "             they tell apart\n"
    "Late rows:   a row is late where it is --disorder behind the latest time before it and all\n"
    "             its windows are over for longer than --lateness. A window that late rows change\n"
    "             is written again. A row is late, too, that would join a session which is over\n"
    "             for longer than --lateness. --late gets late rows as they were read, below the\n"
    "             header of CSV\n"
    "Corrections: a last column says what a row is: first (the window is complete), again (it\n"
    "             has changed, and replaces the row with its key and bounds), void (a session "
    "that\n"
    "             was written has grown or become one with another: the row with its key\n"
    "             and bounds is no more) or early (--every: the window is still open).\n"
    "             Without --corrections void rows are not written\n"
    "\n"
    "Examples:\n"
    "  strid window --input readings.csv --key device --time at --window sliding:10s/1s \\\n"
    "      --aggregate 'count,mean(value),p99(value)'\n"
    "  strid window --follow clicks.csv --no-header --key 2 --time 1 --window session:30m \\\n"
    "      --aggregate count --disorder 5s --late late.csv\n"
    "  mosquitto_sub -t 'plant/#' | strid window --format json --key sensor.id --time at \\\n"
    "      --window tumbling:1m --aggregate 'mean(value),max(value)'\n"
    "  strid window --input north.csv south.csv --merge-inputs --delimiter ';' --decimal-comma \\\n"
    "      --null NA,- --time at --window tumbling:1m --aggregate 'mean(value)'\n"
    "  strid window --follow visits.csv --key door --time at --window tumbling:1m \\\n"
    "      --aggregate count --idle 5s --every 1s --future 1h --fill --corrections\n"
    "  strid window --input quotes.csv --key symbol --window count:1000/25 \\\n"
    "      --aggregate 'min(price),max(price)' --output bars.csv\n";

}  // namespace

std::string window_description() {
    return description;
}

std::string window_footer() {
    return fmt::format(footer, TablePlan::keys_max, TablePlan::values_max,
                       TablePlan::aggregates_max);
}

}  // namespace strid::tool
