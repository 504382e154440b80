#!/usr/bin/awk -f
# SPDX-License-Identifier: Apache-2.0
#
# A header as Doxygen reads it. The opening comment documents the file. Left out are: the hooks of a
# contract that one header documents, of operators (operator/contract.hpp), sources and sinks
# (operator/source.hpp), aggregates (window/aggregates/aggregate.hpp) and policies of farms
# (pattern/scheduling.hpp); copies, moves, comparisons and deduction guides; names of the engine
# (engine_names.txt). A header belongs to the group of its room (groups.dox). Lines keep their
# numbers.

BEGIN {
    file = ARGV[1]
    room = file
    sub(/.*include\/strid\//, "", room)
    in_room = sub(/\/.*/, "", room)
    name = "(\\[\\[nodiscard\\]\\] )?(static )?(constexpr )?[A-Za-z][A-Za-z0-9_:<>,*& ]* [&*]?"
    hooks = "(" name "(on|process|state|facts)\\(|static constexpr [A-Za-z]+Traits traits"
    if (file ~ /\/connector\//)
        hooks = hooks "|using (record_type|Found) =|enum class Found|static constexpr bool drains|" name \
            "(open|poll|wake_at_ns|blocks|stop|files|fraction_done|bytes_read|flush|close|" \
            "may_block|count_malformed)\\(|" name "operator\\(\\)\\("
    if (file ~ /\/pattern\//) hooks = hooks "|" name "(scheduler|multicaster)\\("
    if (file ~ /\/window\/aggregates/)
        hooks = hooks "|using State =|static constexpr bool (commutative|only_forward|" \
            "local_states)|" name "(lift|add|identity|combine|without|lower)\\("
    hooks = "^    +" hooks ")"
    if (file ~ /operator\/(contract|source)\.hpp$|aggregates\/aggregate\.hpp$/) hooks = "^@none"
    special = "^    .*(= (default|delete);|friend .*operator(==|<=>)|operator=\\()"
    guide = "^[A-Z][A-Za-z]*\\(.*\\) -> "
    engine = "^@none"
    while ((getline line < "docs/site/engine_names.txt") > 0) {
        count = split(line, words, " ")
        if (file !~ "/strid/" words[1] "$") continue
        types = functions = "@none"
        for (i = 2; i <= count; i++) {
            if (words[i] ~ /^[A-Z]/) types = types "|" words[i]
            else functions = functions "|" words[i]
        }
        engine = "^(class|struct|using|concept) (\\[\\[[a-z]+\\]\\] |alignas\\(.*\\) )?(" types \
            ")\\>|^[^ /#].* (" functions ")(\\(| =|<)|^[^ /#].* (" types ")(<.*>)?::"
    }
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

# Within what is left out at the level of a namespace.
left_out {
    if (/^}/ || (!body && /;$/) || (left_out == "concept" && /^    };$/)) {
        left_out = 0
        $0 = $0 " /** @endcond */"
    } else if (/{$/) {
        body = 1
    }
    print
    next
}

/^namespace / && /{$/ { in_graph = /graph {$/ }
/^}.*namespace / { in_graph = 0 }

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
    if ($0 ~ hooks || $0 ~ special) {
        sub(/^ */, "&/** @private */ ", lines[1])
    } else if ($0 ~ guide || $0 ~ engine ||
               (in_graph && /^[^ }\/#]/ && !/^(class|struct|enum|namespace|concept|friend)/)) {
        body = /{$/
        lines[1] = "/** @cond */ " lines[1]
        if (!body && /[;}]$/) lines[held] = lines[held] " /** @endcond */"
        else left_out = /^concept / ? "concept" : "other"
    }
    print_held()
}

END { print_held() }
