// SPDX-License-Identifier: Apache-2.0
//
// Composition of arbitrary acyclic graphs. The oracle for what grammar (2) of paper 2 can express
// is the grammar itself: all graphs it generates on up to five Matryoshkas, built bottom-up from
// its productions, against the composer's answer for every acyclic graph of that size.
#include <bit>
#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/block/dag.hpp>
#include <strid/engine/block/grammar.hpp>

#include "operators.hpp"
#include "term_graph.hpp"

namespace strid::block {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The graphs of grammar (2) over vertices 0..n-1 whose edges all go upwards, as sets of edge bits.
class GrammarGraphs {
  public:
    using Vertices = std::uint32_t;
    using Edges = std::uint32_t;

    explicit GrammarGraphs(unsigned size) : size_(size) {
        for (Vertices set = 1; set < (1u << size); ++set) {
            multipipes_[set] = {path(set)};
            left_[set] = {path(set)};
            right_[set] = {path(set)};
            for (Vertices part = (set - 1) & set; part != 0; part = (part - 1) & set) {
                const Vertices rest = set & ~part;
                connect(left_[set], {path(part)}, part, lists_[rest], rest);
                connect(right_[set], lists_[part], part, {path(rest)}, rest);
                connect(multipipes_[set], lists_[part], part, left_[rest], rest);
                connect(multipipes_[set], right_[part], part, lists_[rest], rest);
            }
            make_lists(set);
        }
    }

    // Whether every connected part of the graph is a MultiPipe.
    [[nodiscard]] bool generates(Edges edges) const {
        return lists_.at((1u << size_) - 1).count(edges) > 0;
    }

    [[nodiscard]] Edges bit(unsigned from, unsigned to) const { return 1u << (from * size_ + to); }

  private:
    // A Matryoshka over these vertices as operators: the path through them.
    [[nodiscard]] Edges path(Vertices set) const {
        Edges edges = 0;
        int previous = -1;
        for (unsigned vertex = 0; vertex < size_; ++vertex) {
            if ((set >> vertex & 1) == 0) continue;
            if (previous >= 0) edges |= bit(static_cast<unsigned>(previous), vertex);
            previous = static_cast<int>(vertex);
        }
        return edges;
    }

    // All rightmost vertices of the left graph to all leftmost ones of the right graph.
    void connect(std::set<Edges>& into, const std::set<Edges>& lefts, Vertices left_set,
                 const std::set<Edges>& rights, Vertices right_set) const {
        for (const Edges left : lefts) {
            for (const Edges right : rights) {
                Edges edges = left | right;
                bool upwards = true;
                for (unsigned from = 0; from < size_; ++from) {
                    if ((left_set >> from & 1) == 0 || has_out(left, from)) continue;
                    for (unsigned to = 0; to < size_; ++to) {
                        if ((right_set >> to & 1) == 0 || has_in(right, to)) continue;
                        upwards = upwards && from < to;
                        if (from < to) edges |= bit(from, to);
                    }
                }
                if (upwards) into.insert(edges);
            }
        }
    }

    // [G_i] over a set: the block with its lowest vertex, then a list over the rest.
    void make_lists(Vertices set) {
        std::set<Edges>& found = lists_[set];
        found = multipipes_[set];
        const Vertices lowest = set & (~set + 1);
        for (Vertices part = (set - 1) & set; part != 0; part = (part - 1) & set) {
            if ((part & lowest) == 0) continue;
            for (const Edges first : multipipes_[part]) {
                for (const Edges rest : lists_[set & ~part]) found.insert(first | rest);
            }
        }
    }

    [[nodiscard]] bool has_out(Edges edges, unsigned vertex) const {
        return (edges >> (vertex * size_) & ((1u << size_) - 1)) != 0;
    }
    [[nodiscard]] bool has_in(Edges edges, unsigned vertex) const {
        for (unsigned from = 0; from < size_; ++from) {
            if ((edges & bit(from, vertex)) != 0) return true;
        }
        return false;
    }

    unsigned size_;
    std::map<Vertices, std::set<Edges>> multipipes_, left_, right_, lists_;
};

Dag dag_of(const GrammarGraphs& graphs, unsigned size, GrammarGraphs::Edges edges) {
    Dag dag;
    for (unsigned vertex = 0; vertex < size; ++vertex) {
        // Key partitioning everywhere, so that every edge is a shuffle the oracle can see.
        dag.add_vertex(testing::keyby(testing::map(fmt::format("v{}", vertex))));
    }
    for (unsigned from = 0; from < size; ++from) {
        for (unsigned to = from + 1; to < size; ++to) {
            if ((edges & graphs.bit(from, to)) != 0) dag.add_edge(from, to);
        }
    }
    return dag;
}

void check_every_graph(unsigned size) {
    const GrammarGraphs graphs(size);
    const unsigned pairs = size * (size - 1) / 2;
    std::size_t expressible = 0;
    for (std::uint32_t choice = 0; choice < (1u << pairs); ++choice) {
        GrammarGraphs::Edges edges = 0;
        unsigned index = 0;
        for (unsigned from = 0; from < size; ++from) {
            for (unsigned to = from + 1; to < size; ++to) {
                if ((choice >> index++ & 1) != 0) edges |= graphs.bit(from, to);
            }
        }
        const Dag dag = dag_of(graphs, size, edges);
        const DagComposition composition = compose(dag);
        ASSERT_EQ(composition.in_grammar(), graphs.generates(edges)) << composition.explain();
        if (!composition.in_grammar()) continue;
        ++expressible;
        testing::NamedEdges built;
        for (const ParallelBlock& term : *composition.multipipes) {
            ASSERT_TRUE(is_multipipe(term)) << to_string(term);
            testing::collect_edges(term, built);
        }
        ASSERT_EQ(built, testing::edges_of(dag)) << composition.explain();
    }
    EXPECT_GT(expressible, 0u);
    if (size >= 4) {
        EXPECT_LT(expressible, 1u << pairs);
    }
}

TEST(Compose, AgreesWithTheGrammarOnTwo) {
    check_every_graph(2);
}
TEST(Compose, AgreesWithTheGrammarOnThree) {
    check_every_graph(3);
}
TEST(Compose, AgreesWithTheGrammarOnFour) {
    check_every_graph(4);
}
TEST(Compose, AgreesWithTheGrammarOnFive) {
    check_every_graph(5);
}

// Two splits, and a merge of one branch of each.
Dag crossing() {
    Dag dag;
    const std::size_t s = dag.add_vertex(testing::source("s"));
    const std::size_t a = dag.add_vertex(testing::map("a"));
    const std::size_t b = dag.add_vertex(testing::map("b"));
    const std::size_t x = dag.add_vertex(testing::map("x"));
    const std::size_t y = dag.add_vertex(testing::map("y"));
    const std::size_t k = dag.add_vertex(testing::keyby(testing::sink("k", 2)));
    dag.add_edge(s, a);
    dag.add_edge(s, b);
    dag.add_edge(a, x);
    dag.add_edge(a, y);
    dag.add_edge(y, k);
    dag.add_edge(b, k);
    return dag;
}

TEST(Compose, MergeOfBranchesOfDifferentSplitsTakesTheGeneralForm) {
    const DagComposition composition = compose(crossing());
    EXPECT_FALSE(composition.in_grammar());
    EXPECT_FALSE(is_expressible(crossing()));
    ASSERT_EQ(composition.sections.size(), 6u);
    std::set<std::string> sections;
    for (const DagComposition::Section& section : composition.sections) {
        EXPECT_TRUE(is_matryoshka(section.matryoshka));
        sections.insert(to_string(section.matryoshka));
    }
    EXPECT_THAT(sections,
                ElementsAre("Pipe(Comb(Seq(a), Comb◂(Seq(f_s(a)), {Seq(f_d(x)), Seq(f_d(y))})))",
                            "Pipe(Comb(Seq(b), Seq(f_d(k))))",
                            "Pipe(Comb(Seq(s), Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b))})))",
                            "Pipe(Comb(Seq(y), Seq(f_d(k))))", "Pipe(Seq(x))", "[Pipe(Seq(k))]^2"));
    EXPECT_EQ(composition.counts(), (BlockCounts{15, 6, 7, 1, 0}));
    EXPECT_THAT(composition.explain(), HasSubstr("Not in grammar (2)"));
    EXPECT_THAT(composition.explain(Notation::ascii), HasSubstr("M0 -> M1"));
}

TEST(Compose, ManyToManyTakesTheGeneralForm) {
    Dag dag;
    for (const char* name : {"s1", "s2"}) dag.add_vertex(testing::source(name));
    for (const char* name : {"k1", "k2", "k3"}) dag.add_vertex(testing::sink(name));
    for (std::size_t from : {0u, 1u}) {
        for (std::size_t to : {2u, 3u, 4u}) dag.add_edge(from, to);
    }
    const DagComposition composition = compose(dag);
    EXPECT_FALSE(composition.in_grammar());
    std::size_t edges = 0;
    for (const DagComposition::Section& section : composition.sections) {
        edges += section.successors.size();
    }
    EXPECT_EQ(edges, 6u);
}

TEST(Compose, ChainsWhereAskedAndPossible) {
    Dag dag;
    const std::size_t s = dag.add_vertex(testing::source("s", 2));
    const std::size_t f = dag.add_vertex(testing::filter("f", 2), Attachment::chain);
    const std::size_t m = dag.add_vertex(testing::keyby(testing::map("m", 2)), Attachment::chain);
    const std::size_t k = dag.add_vertex(testing::sink("k", 2), Attachment::chain);
    dag.add_edge(s, f);
    dag.add_edge(f, m);
    dag.add_edge(m, k);
    EXPECT_EQ(to_string(compose(dag).multipipes->front()),
              "A2A([Pipe(Comb(Comb(Seq(s), Seq(f)), Seq(f_d(m))))]^2, "
              "[Pipe(Comb(Seq(m), Seq(k)))]^2)");
    EXPECT_EQ(to_string(compose(dag, ShuffleComposition::dedicated).multipipes->front()),
              "A2A([Pipe(Comb(Seq(s), Seq(f)) • Seq(f_d(m)))]^2, [Pipe(Comb(Seq(m), Seq(k)))]^2)");
}

TEST(Compose, SeparateGraphsAreSeparateTerms) {
    Dag dag;
    dag.add_edge(dag.add_vertex(testing::source("s")), dag.add_vertex(testing::sink("k")));
    dag.add_edge(dag.add_vertex(testing::source("t")), dag.add_vertex(testing::sink("l")));
    const DagComposition composition = compose(dag);
    ASSERT_TRUE(composition.in_grammar());
    EXPECT_EQ(composition.multipipes->size(), 2u);
}

TEST(Dag, OrderIsDepthFirstAndProducersComeFirst) {
    const Dag dag = crossing();
    EXPECT_THAT(dag.topological_order(), ElementsAre(0, 1, 3, 4, 2, 5));
}

TEST(Dag, RefusesWrongWiring) {
    Dag dag;
    const std::size_t s = dag.add_vertex(testing::source("s"));
    const std::size_t m = dag.add_vertex(testing::map("m"));
    const std::size_t k = dag.add_vertex(testing::sink("k"));
    EXPECT_THROW(dag.add_vertex(testing::map("m")), GraphError);
    EXPECT_THROW(dag.add_vertex(testing::map("n", 0)), GraphError);
    EXPECT_THROW(dag.add_edge(m, s), GraphError);
    EXPECT_THROW(dag.add_edge(k, m), GraphError);
    EXPECT_THROW(dag.add_edge(s, 17), GraphError);
    dag.add_edge(s, m);
    EXPECT_THROW(dag.add_edge(s, m), GraphError);
    EXPECT_THROW((void)compose(Dag{}), GraphError);
}

TEST(Dag, NamesTheOperatorsOfACycle) {
    Dag dag;
    const std::size_t s = dag.add_vertex(testing::source("s"));
    const std::size_t a = dag.add_vertex(testing::map("alpha"));
    const std::size_t b = dag.add_vertex(testing::map("beta"));
    dag.add_edge(s, a);
    dag.add_edge(a, b);
    dag.add_edge(b, a);
    try {
        (void)compose(dag);
        FAIL() << "a cycle went through";
    } catch (const GraphError& error) {
        EXPECT_THAT(error.what(), HasSubstr("alpha, beta"));
    }
}

}  // namespace
}  // namespace strid::block
