// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

/**
 * Which pairs of one shard were called in this generation of time and in the one before: filters
 * with lines of 8 words, of which a pair has a bit in each.
 */
public class Pairs {
    private static final int WORDS = 8;
    private static final long NONE = Long.MIN_VALUE;

    public long generation = NONE;
    public long[] current;
    public long[] previous;

    public Pairs() {}

    Pairs(int lines) {
        current = new long[lines * WORDS];
        previous = new long[lines * WORDS];
    }

    /** Whether the pair was not known; now it is. */
    boolean isNew(long hash, long now, long memorySeconds) {
        long generationNow = now / memorySeconds;
        if (generationNow > generation) {
            long[] oldest = previous;
            previous = generationNow == generation + 1 ? current : new long[current.length];
            current = oldest;
            java.util.Arrays.fill(current, 0);
            generation = generationNow;
        }
        int line = (int) ((hash >>> 48) * (current.length / WORDS) >>> 16) * WORDS;
        boolean inCurrent = true;
        boolean inPrevious = true;
        for (int word = 0; word < WORDS; ++word) {
            long bit = 1L << (hash >>> 6 * word & 63);
            inCurrent &= (current[line + word] & bit) != 0;
            inPrevious &= (previous[line + word] & bit) != 0;
            current[line + word] |= bit;
        }
        return !inCurrent && !inPrevious;
    }
}
