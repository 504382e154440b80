// SPDX-License-Identifier: Apache-2.0
//
// A pattern inside a graph: an ordered farm counts the divisors of numbers, which takes long for
// some of them and no time for others.
//
// `.map(f, {.parallelism = 4})` shares batches between replicas. A farm shares single records, each
// to the worker with the least to do, and an ordered farm gives the results in the order of the
// stream: what follows sees what one worker would have made.
#include <cstdio>
#include <numeric>
#include <vector>

#include <strid/pattern/pattern.hpp>
#include <strid/pattern/pattern_operator.hpp>
#include <strid/strid.hpp>

struct Divisors {
    int of;
    int count;
};

int main() {
    const auto count_divisors = [](int number) {
        Divisors divisors{number, 0};
        for (int d = 1; d <= number; ++d) divisors.count += number % d == 0;
        return divisors;
    };
    std::vector<int> numbers(5'000);
    std::iota(numbers.begin(), numbers.end(), 1);

    strid::Graph graph{"divisors"};
    graph.source(strid::from_vector(numbers))
        .apply(strid::pattern::pattern_operator(strid::pattern::ordered_farm(count_divisors)),
               {.name = "farm"})
        .sink(
            [most = 0](const Divisors& divisors) mutable {  // prints each record number of divisors
                if (divisors.count <= most) return;
                most = divisors.count;
                std::printf("%d has %d divisors\n", divisors.of, divisors.count);
            });
    strid::run(graph);
}
