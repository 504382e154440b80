# SPDX-License-Identifier: Apache-2.0
"""The tables of paper 5, The Performance Price of Dynamic Memory in C++: their figures as printed,
how each is measured here, and what decides their order."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Table:
    """`paper`: row, column to milliseconds. Rows that the paper has not are ours alone."""

    name: str
    title: str
    slide: str
    columns: list[str]
    rows: list[str]
    unit: str  # what one element is
    paper: dict[tuple[str, str], float]
    text: str  # what is measured here
    why: str  # what decides the order, and why it may be another here
    names: dict[str, str] = field(default_factory=dict)  # of rows, as they are printed
    along: str = "row"  # the order that is compared: within a row, a column, or both
    is_grid: bool = False  # one table with all rows, the paper's figures and ours side by side
    cells_of: str = ""  # the table whose cells these are, where it is another one

    @property
    def plural(self) -> str:
        return {"search": "searches"}.get(self.unit, self.unit + "s")


def one_row(row: str, values: dict[str, float]) -> dict[tuple[str, str], float]:
    return {(row, column): value for column, value in values.items()}


ACCESS = Table(
    "access", "Access patterns: sequential, strided, random",
    "Cache memories - prefetcher (example): summing an array containing 100M integers",
    ["sequential", "strided", "random"], ["sum"], "integer",
    one_row("sum", {"sequential": 180, "strided": 740, "random": 6600}),
    "The sum of an array of integers of 32 bits, through an array of indices as in the paper's "
    "program. Strided is 0, 16, 32, ..., then 1, 17, 33, ...: every integer is visited once, and "
    "every line sixteen times. Random is a shuffled order.",
    "In order, the hardware prefetcher has each line before it is wanted, and sixteen integers "
    "share it. With a stride of a line it still has the line in time, but the memory has to "
    "deliver sixteen times as much. In random order no line is foreseen; the processor hides part "
    "of the wait because the loads do not depend on each other.")

STRIDE = Table(
    "stride", "Stride and cache line",
    "Cache memories - cache line (example): summing an array containing 100M integers",
    ["1", "2", "3", "4", "8", "16", "32"], ["sum"], "integer",
    one_row("sum", {"1": 180, "2": 210, "3": 240, "4": 270}),
    "The same sum with strides of 1 to 32 integers. The paper has 1 to 4; 16 is one integer of a "
    "line of 64 bytes.",
    "Time grows with the lines that are read for each integer, until a stride reaches a line. "
    "Where the memory delivers more than the loop asks for, the first strides cost the same: the "
    "loop, not the memory, is then the limit. From 16 on another effect takes over: a pass "
    "touches more pages than the nearest table of translations has entries, and the prefetcher "
    "stops at the end of a page.")

CLASS_SIZE = Table(
    "class_size", "The size of the class",
    "Experiment with class size and member layout: how the speed of processing data depends on "
    "the size of the class (a figure; the text of the paper has no numbers)",
    ["20", "24", "32", "40", "48", "56", "64", "88", "120", "184", "248", "376", "504"],
    ["visible"], "object", {},
    "The surface of the visible rectangles of a vector; the class has 20 bytes of members that "
    "are read and padding behind them. All sizes visit as many objects. Half of them are visible, "
    "at random.",
    "Up to the size of a line all bytes of the vector pass through the caches, so time grows with "
    "the size. Beyond it only the lines with members are read, and it should stay; it grows "
    "further because fewer objects lie on a page, so that the prefetcher starts anew more often "
    "and the table of translations misses more. The guess whether a rectangle is visible is "
    "wrong for half of them whatever the size, which flattens the curve at small sizes.",
    {"visible": "sum of visible surfaces"})

MEMBER_LAYOUT = Table(
    "member_layout", "The layout of the members",
    "Experiment with class size and member layout (a figure; the text of the paper has no "
    "numbers)",
    ["0", "8", "16", "32", "64", "96", "128", "192", "256", "384"],
    ["56 bytes", "120 bytes", "248 bytes", "504 bytes"], "object", {},
    "The same with padding between the member that is read first and the others: columns are "
    "bytes of padding, rows the size of the class, which stays.",
    "While the members share a line, the distance is without effect. As soon as they lie on two, "
    "a visible rectangle costs two lines. Processors that fetch lines in pairs of 128 bytes hide "
    "the second one where it is the neighbour.")

POINTERS = Table(
    "pointers", "A vector of pointers against values, with virtual calls",
    "Array of pointer performance: a vector with 20 million objects",
    ["small", "large"],
    ["optimal layout", "non-optimal layout", "std::unique_ptr, allocated in order",
     "vector of std::variant", "boost::base_collection, by type"], "object",
    {("optimal layout", "small"): 384, ("non-optimal layout", "small"): 5067,
     ("optimal layout", "large"): 2660, ("non-optimal layout", "large"): 16905},
    "A virtual function of each object; four classes of 24 to 48 bytes in random order. Optimal: "
    "the pointers follow the objects in memory. Non-optimal: the same pointers, shuffled. The "
    "other rows are ours: what the paper advises instead. `large` makes 64 multiplications that "
    "depend on each other.",
    "Where the pointers are shuffled, each call waits for its object: no prefetcher follows them. "
    "Of the small function the processor has several under way, and their waits overlap; the "
    "large one fills its window, so that every object is waited for alone, and the target of the "
    "call, which is guessed, is known wrong only after that. So the large function loses more "
    "time than the small one, in the paper as here. A collection by type has no call to guess: "
    "the loop over each class is compiled for it.",
    along="column", is_grid=True)

TREES = Table(
    "trees", "Tree layouts by allocator",
    "Binary Tree Example - Lookup performance",
    ["BFS", "DFS", "van Emde Boas", "B-tree"],
    ["standard allocator", "perfect allocator", "scattered allocator", "Strid search tree",
     "Strid search tree, in batches"],
    "lookup",
    {("standard allocator", "BFS"): 12800, ("standard allocator", "DFS"): 8300,
     ("standard allocator", "van Emde Boas"): 7300, ("perfect allocator", "BFS"): 11200,
     ("perfect allocator", "DFS"): 7200, ("perfect allocator", "van Emde Boas"): 6400,
     ("scattered allocator", "BFS"): 16700, ("scattered allocator", "DFS"): 14300,
     ("scattered allocator", "van Emde Boas"): 14400},
    "A perfect binary tree whose nodes are allocated in the order of a layout: nodes of 24 bytes "
    "(8 more in each block of the C library), larger than the caches; half of the values that "
    "are looked for are there. Scattered: one that is allocated lies 51 nodes behind the one "
    "before. `Strid search tree` is the library's "
    "(strid/search/search_tree.hpp) over the same keys: breadth-first and the B-tree keep keys "
    "alone, the other two nodes with offsets; `in batches` has several lookups under way.",
    "A lookup goes down one node a level. In breadth-first order a node and its children lie far "
    "apart from the fourth level on, so nearly every level is a line; depth-first the left child "
    "shares the line of its parent; in van Emde Boas order small trees of two or three levels do. "
    "The upper levels stay in the caches whatever the layout, so the ratio depends on how many "
    "levels are beyond them. In random access pages count as well as lines: van Emde Boas order "
    "keeps lower levels on one page, which depth-first does for the left side alone. Scattered, no "
    "two neighbours share a line, and what is left is the order of pages.",
    {"perfect allocator": "perfect allocator (the paper's optimal)",
     "scattered allocator": "scattered allocator (the paper's non-optimal)"}, along="both",
    is_grid=True)

OFFSETS = Table(
    "offsets", "Offsets of 32 bits instead of pointers",
    "Recompiling binary tree example for 32 bit system",
    ["BFS", "DFS", "van Emde Boas"], ["perfect allocator", "offsets of 32 bits"], "lookup",
    {("perfect allocator", "BFS"): 11200, ("perfect allocator", "DFS"): 7200,
     ("perfect allocator", "van Emde Boas"): 6400, ("offsets of 32 bits", "BFS"): 9800,
     ("offsets of 32 bits", "DFS"): 6500, ("offsets of 32 bits", "van Emde Boas"): 5900},
    "The tree of the perfect allocator, and the same with nodes of 12 bytes in a vector, whose "
    "children are indices of 32 bits: the paper's \"rewrite the code not to use pointers, but to "
    "use offset from a fixed array\", where it recompiled its program for 32 bits.",
    "Half the bytes: more levels share a line, and one level more stays in the caches. The paper's "
    "program for 32 bits also has fewer registers, and gains less.",
    {"perfect allocator": "pointers of 64 bits"}, along="column", is_grid=True, cells_of="trees")

HASH_SETS = Table(
    "hash_sets", "Hash sets: small, medium, large",
    "Cache memories - data locality (example); Optimized Hash Map - lookup performance: 64M "
    "searches in sets of 32, 1M and 64M entries",
    ["small", "medium", "large"],
    ["std::unordered_set", "Simple hash map", "Optimized hash map", "boost::unordered_set",
     "boost::unordered_flat_set", "absl::flat_hash_set", "google::dense_hash_set",
     "Strid keyed state", "Strid keyed state, in batches"], "search",
    {("std::unordered_set", "small"): 1435, ("std::unordered_set", "medium"): 2849,
     ("std::unordered_set", "large"): 5853, ("Simple hash map", "small"): 1824,
     ("Simple hash map", "medium"): 4161, ("Simple hash map", "large"): 5838,
     ("Optimized hash map", "small"): 1427, ("Optimized hash map", "medium"): 3184,
     ("Optimized hash map", "large"): 3785},
    "Random lookups of integers, half of which are there. The two of the paper are written as its "
    "slides describe them. `Strid keyed state` is what operators by key use: a table of words "
    "(open addressing, linear probing, at most half taken) that point to entries which never "
    "move; a word has some bits of the hash, so that a miss is seen in the table. `in batches` "
    "looks 16 ahead, as an operator does with the records of a batch.",
    "Small sets fit the nearest cache: the hash function and wrong guesses decide. Beyond the "
    "caches the lines of a lookup decide: one for sets that keep values in the table "
    "(boost::unordered_flat_set and absl have one more for control bytes, often), two where the "
    "table points to nodes, three for std::unordered_set where a hash has more than one. "
    "std::unordered_set of integers uses the value as its hash and divides by a prime; the "
    "simple map here takes the lower bits. The paper's values are all numbers below the size, so "
    "that none of them collide in std::unordered_set; ours are spread over 32 bits, as hashes "
    "are, and a quarter of its lists have two values and more. That, and the division, put it "
    "behind the paper's own maps here. Lookups in batches ask for all lines at once. The "
    "optimized map has the value in the entry itself: one line where the simple one has two.",
    along="column", is_grid=True)

STREAMS = Table(
    "streams", "A stream of several types of record",
    "Solution: don't use vectors of pointers; Array of values vs array of pointers (advice, no "
    "figures)",
    ["small, 1 worker", "large, 1 worker", "small, 2 workers", "large, 2 workers"],
    ["std::unique_ptr of a base class", "std::variant", "std::variant, split by type"], "record",
    {},
    "The objects and functions of the vectors above as a stream: a source makes them, a sink "
    "calls the function. Seconds of the clock. With one worker source and sink take turns, a "
    "batch at a time; with two, objects are allocated in one thread and freed in the other.",
    "Pointers cost an allocation for each record, freed in another thread with two workers, and "
    "a line elsewhere for each call; in a batch that has just been made that line is still near, "
    "so that the loss is smaller than in a vector that is past the caches. Variants lie in the "
    "block of the batch, each as large as the largest type. Split by type, each stream has one "
    "type and no call to guess, and pays an edge for each type: worth it where what follows "
    "differs by type, not for one small function.", is_grid=True)

MIN_MAX = Table(
    "min_max", "Minimum and maximum in two loops or in one",
    "Reiterating the same collection two times: 100M elements of 16 bytes",
    ["two loops", "one loop"], ["time"], "object",
    one_row("time", {"two loops": 368, "one loop": 207}),
    "The minimum and the maximum of a member of 4 bytes.",
    "The vector is past every cache, so each loop reads it from memory again. Where one core "
    "asks for less than the memory delivers, the loops are limited by their own instructions, "
    "and one loop gains less than half.")

CHANGING = Table(
    "changing", "Ordered sets that change",
    "Binary Tree Modification; prefer n-ary tree implementation to binary tree (advice)",
    ["insert", "search", "rebuild", "search, rebuilt", "side by side", "erase"],
    ["std::set", "absl::btree_set", "Strid ordered set", "sorted vector, a tenth",
     "Strid ordered set, a tenth"], "key", {},
    "A million random keys of 64 bits are inserted one by one, searched (half are there), and half "
    "of them are erased. `rebuild` lays the ordered set (strid/search/ordered_set.hpp) out anew: "
    "nodes full, in order, in one block; `side by side` searches several at once. A sorted vector "
    "has a tenth of the keys, because each insertion moves half of them.",
    "A search in std::set waits for a line and a page on each of twenty levels; nodes of some "
    "thirty keys have four or five. After a rebuild there are fewer nodes, on huge pages.",
    is_grid=True)

HOT_MEMBERS = Table(
    "hot_members", "Hot members apart",
    "Move rarely used members out of the hot class (advice; a figure of the size of the class)",
    ["in order", "at random"], ["records", "hot members apart", "columns"], "object", {},
    "The surface of the visible rectangles, in records of 128 bytes of which a loop reads 20: an "
    "array of records, an array of the hot members beside one of the others, and an array for each "
    "member (strid/memory/columns.hpp).",
    "In order, a loop reads only the lines with members that it uses: 20 bytes of 128. At random, "
    "columns cost a line for each of five members, where the hot members share one.",
    is_grid=True)

# The caption: kaldi, 7.7 % of the time in malloc, 1.54 % in free.
ALLOCATORS_PAPER = {"glibc": (27.0, 288), "tcmalloc": (24.7, 289), "jemalloc": (24.7, 288),
                    "mimalloc": (24.0, 292)}
ALLOCATORS_TEXT = (
    "A program of one thread that keeps its data in linked lists. The paper ran the speech "
    "recogniser kaldi, 7.7 % of whose time is in malloc and 1.54 % in free; `linked_lists` is the "
    "part of such a program that allocates most, token passing: nodes of 24 and 40 bytes, counted "
    "references, millions of them made and dropped. Each library is preloaded and must really be "
    "where malloc comes from. `recycled` keeps the nodes that are dropped in a list of the "
    "program: the paper's \"don't release memory back to the allocator, cache it\".")
ALLOCATORS_WHY = (
    "The program does little else than allocate, so allocators differ more here than under "
    "kaldi. Which is fastest depends on how short the way through malloc and free is for small "
    "sizes in one thread, and on where consecutive nodes lie: glibc puts 8 to 24 bytes of its own "
    "beside each, the others none, so that more nodes share a line.")

TABLES = [ACCESS, STRIDE, CLASS_SIZE, MEMBER_LAYOUT, POINTERS, TREES, OFFSETS, HASH_SETS, MIN_MAX,
          CHANGING, HOT_MEMBERS, STREAMS]
