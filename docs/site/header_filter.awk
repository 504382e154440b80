#!/usr/bin/awk -f
# SPDX-License-Identifier: Apache-2.0
#
# A header as Doxygen reads it. The opening comment documents the file. Left out are: the hooks of a
# contract that one header documents, of operators (operator/contract.hpp), sources and sinks
# (operator/source.hpp) and policies of farms (pattern/scheduling.hpp); copies, moves, comparisons
# and deduction guides. A header belongs to the group of its room (groups.dox). Lines keep their
# numbers.

BEGIN {
    file = ARGV[1]
    contract = "include/strid/engine/operator/contract_names.hpp"
    room = file
    sub(/.*include\/strid\//, "", room)
    in_room = sub(/\/.*/, "", room)
    name = "(\\[\\[nodiscard\\]\\] )?(static )?(constexpr )?[A-Za-z][A-Za-z0-9_:<>,*& ]* [&*]?"
    names = "on|process|poll"
    while ((getline line < contract) > 0) {
        if (line ~ /^struct KnownNames/) listed = 1
        else if (listed && line ~ /^};/) break
        else if (listed) {
            gsub(/ |int |;/, "", line)
            gsub(/,/, "|", line)
            names = names "|" line
        }
    }
    gsub(/\|+/, "|", names)
    hooks = "^    +(" name "(" names ")\\(|using record_type =|static constexpr [A-Za-z]+Traits traits)"
    if (file ~ /operator\/(contract|source)\.hpp$/) hooks = "^@none"
    special = "^[A-Z][A-Za-z]*\\(.*\\) -> |^    .*(= (default|delete);|friend .*operator(==|<=>)|operator=\\()"
}

function print_held(  i) {
    for (i = 1; i <= held; i++) print lines[i]
    held = 0
}

FNR == 1 { print "/// @file"; opening = 1; next }
FNR == 2 && in_room && /^\/\/$/ { $0 = "// @ingroup " room }
/^ *\/\// { gsub(/\047\\[nrt0]\047/, "`&`") }
opening && /^\/\// { sub(/^\/\//, "///"); print; next }
{ opening = 0 }

# The stream has one definition, which is a specialisation: it is the page of the name.
sub(/^class Stream<.*/, "class Stream") { }

# A plain comment behind a member or an enumerator documents it; the next line may go on with it.
/^    [^\/]*[;,a-z0-9]  +\/\/ / && !/^ *(return|case|if) / {
    sub(/  +\/\/ /, "  ///< ")
    goes_on = 1
    lines[++held] = $0
    print_held()
    next
}
goes_on && /^ +\/\/ / { sub(/\/\/ /, "///< ") }
{ goes_on = 0 }

# The head of a template waits for what it is the head of.
/^ *template </ || (held && /^ +requires/) {
    if (/^ *template </) print_held()
    lines[++held] = $0
    next
}

{
    lines[++held] = $0
    if ($0 ~ hooks || $0 ~ special) sub(/^ */, "&/** @private */ ", lines[1])
    print_held()
}

END { print_held() }
