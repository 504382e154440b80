// SPDX-License-Identifier: Apache-2.0
//
// A program of two files, both made of this one: PART defines what the other one calls.
#include <strid/stream/stream_types.hpp>

void consume(strid::Stream<int>* stream);

#ifdef PART
void consume(strid::Stream<int>* /*stream*/) {}
#else
int main() {
    consume(nullptr);
}
#endif
