// SPDX-License-Identifier: Apache-2.0
//
// The smallest graph: a source, one operator and a sink.
#include <cstdio>

#include <strid/strid.hpp>

int main() {
    strid::Graph graph{"hello"};
    graph.source(strid::from_vector<int>({1, 2, 3}))
        .map([](const int& number) { return number * number; })
        .sink([](const int& square) { std::printf("%d\n", square); });
    strid::run(graph);  // returns at the end of the stream
}
