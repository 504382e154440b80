// SPDX-License-Identifier: Apache-2.0
//
// The reader of `strid compress -d`. Invariant: it writes what libbz2 does, which reads the file as
// one stream after the other, and finds fault with the same files.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <bzlib.h>

#include "tests/support/fuzzing.hpp"
#include "unpacker.hpp"

namespace strid::compress {
namespace {

constexpr std::size_t result_bytes_max = std::size_t{4} << 20;

struct Result {
    std::string bytes = {};
    bool whole = false;
    bool too_large = false;

    bool operator==(const Result&) const = default;
};

/// One stream; true at its end.
bool add_stream(bz_stream& stream, Result& result) {
    static std::string buffer(std::size_t{64} << 10, '\0');
    while (true) {
        stream.next_out = buffer.data();
        stream.avail_out = static_cast<unsigned>(buffer.size());
        const int code = ::BZ2_bzDecompress(&stream);
        const std::size_t made = buffer.size() - stream.avail_out;
        result.bytes.append(buffer, 0, made);  // also where the check of the stream is wrong
        if (code != BZ_OK && code != BZ_STREAM_END) return false;
        result.too_large = result.bytes.size() > result_bytes_max;
        if (code == BZ_STREAM_END) return true;
        if (result.too_large || (made == 0 && stream.avail_in == 0)) return false;
    }
}

/// True where a stream begins; what begins otherwise behind one is garbage.
bool begins_stream(std::string_view rest) {
    constexpr std::string_view mark = "BZh";
    return rest.substr(0, 3) == mark.substr(0, rest.size()) &&
           (rest.size() < 4 || (rest[3] >= '1' && rest[3] <= '9'));
}

Result by_libbz2(std::string_view text) {
    Result result;
    std::string copy(text);
    for (std::size_t at = 0; at != copy.size() && begins_stream(text.substr(at));) {
        bz_stream stream{};
        fuzz::require(::BZ2_bzDecompressInit(&stream, 0, 0) == BZ_OK);
        stream.next_in = copy.data() + at;
        stream.avail_in = static_cast<unsigned>(copy.size() - at);
        const bool ended = add_stream(stream, result);
        at = copy.size() - stream.avail_in;
        ::BZ2_bzDecompressEnd(&stream);
        if (!ended) return result;
        if (result.too_large) return result;
    }
    result.whole = true;
    return result;
}

Result by_blocks(const fuzz::MemoryFile& file) {
    static const std::atomic<bool> never{false};
    static const OnProgress no_progress = [](std::uint64_t) {};
    static Codec codec;
    BlocksInTurn line(codec);
    Input input(file.path(), never);
    MemoryOutput output(result_bytes_max);
    Result result;
    try {
        Unpacker unpacker(input, output, line, no_progress);
        result.whole = unpacker.run();
        if (!result.whole) output.bytes().set_size(0);
    } catch (const CorruptError&) {
    } catch (const MemoryOutput::TooLarge&) {
        result.too_large = true;
    }
    line.discard_all();
    result.bytes = output.bytes().view();
    return result;
}

}  // namespace
}  // namespace strid::compress

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace strid::compress;
    const std::string_view text = strid::fuzz::text_of(data, size);
    if (!begins_stream(text) || text.size() < 4) return 0;
    const Result expected = by_libbz2(text);
    const Result found = by_blocks(strid::fuzz::MemoryFile(text));
    if (expected.too_large || found.too_large) return 0;
    strid::fuzz::require(expected.whole == found.whole);
    // Of a block that is damaged libbz2 writes what comes before the check.
    strid::fuzz::require(expected.whole ? expected.bytes == found.bytes
                                        : expected.bytes.starts_with(found.bytes));
    return 0;
}
