#!/usr/bin/awk -f
# SPDX-License-Identifier: Apache-2.0
#
# A header as Doxygen reads it. Its opening comment documents the file. Private, and thus left out,
# are the hooks of a contract that is documented once: of operators (operator/contract.hpp), sources
# and sinks (operator/source.hpp), aggregates (window/aggregates/aggregate.hpp); and copying, moving
# and comparing, which mean what they always do. Lines keep their numbers.

function flush_held(  i) {
    for (i = 1; i <= held; i++) print lines[i]
    held = 0
}

BEGIN {
    file = ARGV[1]
    name = "(\\[\\[nodiscard\\]\\] )?(static )?(constexpr )?[A-Za-z][A-Za-z0-9_:<>,*& ]* [&*]?"
    operator_hooks = "^    +(" name "(on|process|state|facts)\\(|static constexpr OperatorTraits traits)"
    connector_hooks = "^    +(using (record_type|Found) =|static constexpr bool drains|" name \
        "(open|poll|wake_at_ns|blocks|stop|files|fraction_done|bytes_read|flush|close|" \
        "may_block|count_malformed)\\(|" name "operator\\(\\)\\()"
    aggregate_hooks = "^    +(using State =|static constexpr bool (commutative|only_forward|" \
        "local_states|selective|invertible)|" name "(lift|add|identity|combine|without|lower)\\()"
    pattern_hooks = "^    +" name "(scheduler|multicaster)\\("
    special = "= (default|delete);|friend .*operator(==|<=>)|operator=\\("
    guide = "^[A-Z][A-Za-z]*\\(.*\\) -> "
    is_contract = file ~ /operator\/(contract|source)\.hpp$|aggregates\/aggregate\.hpp$/
    in_connector = file ~ /\/connector\//
    in_patterns = file ~ /\/pattern\//
    in_aggregates = file ~ /\/window\/aggregates/
}

FNR == 1 { print "/// @file"; opening = 1; next }
opening && /^\/\// { sub(/^\/\//, "///"); print; next }
{ opening = 0 }

# The head of a template waits for what it is the head of.
/^ *template </ { flush_held(); lines[++held] = $0; next }
held && /^ +requires/ { lines[++held] = $0; next }

{
    hides = !is_contract && ($0 ~ operator_hooks || (in_connector && $0 ~ connector_hooks) ||
                             (in_patterns && $0 ~ pattern_hooks) ||
                             (in_aggregates && $0 ~ aggregate_hooks))
    lines[++held] = $0
    if (hides || ($0 ~ /^    / && $0 ~ special) || $0 ~ guide) sub(/^ */, "&/** @private */ ", lines[1])
    flush_held()
}

END { flush_held() }
