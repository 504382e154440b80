# SPDX-License-Identifier: Apache-2.0
#
# The answer of word-count, computed without the engine, in the order of the bytes:
#
#     LC_ALL=C awk -f oracle.awk INPUT | LC_ALL=C sort
#         word,count of every word
#     LC_ALL=C awk -v updates=1 -f oracle.awk INPUT | LC_ALL=C sort
#         one row per occurrence, with the count so far
#
# A word is what stands between spaces (the character 0x20 only) and is not empty. A word with a
# comma or a quotation mark is quoted as in RFC 4180.
BEGIN { FS = "[ ]" }

function quoted(word) {
    if (word !~ /[",\r]/) return word
    gsub(/"/, "\"\"", word)
    return "\"" word "\""
}

{
    for (i = 1; i <= NF; ++i) {
        if ($i == "") continue
        ++count[$i]
        if (updates) print quoted($i) "," count[$i]
    }
}

END {
    if (updates) exit
    for (word in count) print quoted(word) "," count[word]
}
