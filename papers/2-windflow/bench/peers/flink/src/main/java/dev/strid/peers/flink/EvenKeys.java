// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * Keys for what has few numbers, such as roads. Flink spreads keys by a hash, which puts two of
 * them on one of two subtasks as often as not; so a number has a key that Flink gives to subtask
 * (number modulo parallelism). Every instance makes the same keys.
 */
public final class EvenKeys implements Serializable {
    private final int parallelism;
    private final int[] nextKeys; // by subtask: the least key that was not looked at yet
    private int[] keys = new int[0]; // by number

    public EvenKeys(int parallelism) {
        this.parallelism = parallelism;
        nextKeys = new int[parallelism];
    }

    public int keyOf(int number) {
        if (number >= keys.length) grow(2 * number + 2);
        return keys[number];
    }

    private void grow(int count) {
        int known = keys.length;
        keys = Arrays.copyOf(keys, count);
        for (int number = known; number < count; ++number) {
            int subtask = number % parallelism;
            while (subtaskOf(nextKeys[subtask]) != subtask) ++nextKeys[subtask];
            keys[number] = nextKeys[subtask]++;
        }
    }

    private int subtaskOf(int key) {
        int groups = KeyGroupRangeAssignment.computeDefaultMaxParallelism(parallelism);
        return KeyGroupRangeAssignment.assignKeyToParallelOperator(key, groups, parallelism);
    }
}
