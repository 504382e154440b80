// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

/** The hashes of voip-stream/README.md: 64 bits without a sign. */
final class Hashes {
    static final int SHARDS = 64;

    private Hashes() {}

    static long mix(long x) {
        x ^= x >>> 33;
        x *= 0xff51afd7ed558ccdL;
        x ^= x >>> 33;
        x *= 0xc4ceb9fe1a85ec53L;
        return x ^ x >>> 33;
    }

    static long ofPair(long hashOfCalling, long hashOfCalled) {
        return mix(hashOfCalling ^ hashOfCalled * 0x9e3779b97f4a7c15L);
    }

    static byte shardOf(long hash) {
        return (byte) (hash & SHARDS - 1);
    }
}
