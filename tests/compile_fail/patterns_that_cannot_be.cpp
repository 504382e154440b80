// SPDX-License-Identifier: Apache-2.0
//
// Patterns that nothing arrives at or leaves, whose tasks do not fit, or that no order or loop can
// be of: the compiler says in one sentence what is wanted.
// error: no task arrives here: a pattern that runs by itself begins with a source
// error: the last node of a pattern that runs by itself takes tasks and makes none
// error: a source is the first node of a pattern, and tasks arrive here
// error: a node needs an operator, or a function of the tasks T that arrive
// error: a farm needs a policy for tasks T
// error: a task of an ordered farm goes to one worker
// error: the worker of an ordered farm is one node
// error: tasks arrive at a loop: a source stands before it
// error: the last node of a loop says which tasks go through it again
// error: a limit needs tasks that arrive: a source stands before it
// error: the size of a task is given by
// error: an AnyPattern has fixed the types of its tasks
// error: a node uses one resource: two could wait for each other
#include <memory>
#include <optional>
#include <string>

#include <strid/pattern/pattern.hpp>

using namespace strid::pattern;

void build() {
    const auto numbers = source([]() -> std::optional<int> { return std::nullopt; });
    const auto twice = [](int number) { return 2 * number; };
    const auto ignore = [](int) {};
    const auto boxes = source([]() -> std::optional<std::unique_ptr<int>> { return std::nullopt; });
    const auto open = [](std::unique_ptr<int> box) { return *box; };
    const Resource device(1);
    const AnyPattern<int, int> any = twice;
#ifdef STRID_MUST_NOT_COMPILE
    const auto of_text = [](const std::string& text) { return text.size(); };
    run(pipeline(twice, ignore));
    run(pipeline(numbers, twice));
    run(pipeline(numbers, numbers, ignore));
    run(pipeline(numbers, of_text, ignore));
    run(pipeline(boxes, farm(open, Broadcast{}), ignore));
    run(pipeline(numbers, ordered_farm(twice, Broadcast{}), ignore));
    run(pipeline(numbers, ordered_farm(pipeline(twice, twice)), ignore));
    run(iterate(twice));
    run(pipeline(numbers, iterate(iterate(twice)), ignore));
    run(limited(ignore, {.tasks = 1}));
    run(pipeline(numbers, limited(ignore, {.bytes = 1}, [](int) { return "1"; })));
    run(pipeline(numbers, limited(any, {.tasks = 1}), ignore));
    run(pipeline(numbers, using_resource(device, using_resource(device, ignore))));
#else
    run(pipeline(numbers, twice, ignore));
    run(pipeline(boxes, farm(open), ignore));
    run(pipeline(numbers, ordered_farm(fused(twice, twice)), ignore));
    run(pipeline(numbers, iterate(pipeline(iterate(twice), twice)), ignore));
    run(pipeline(numbers, limited(twice, {.bytes = 1}), using_resource(device, ignore)));
#endif
}
