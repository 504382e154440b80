// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import org.apache.flink.api.java.tuple.Tuple3;

/** A toll that a car pays: car, time in seconds, toll. */
@SuppressWarnings("unchecked") // Tuple.copy
public class Charge extends Tuple3<Integer, Integer, Long> {
    public int car() {
        return f0;
    }

    public int time() {
        return f1;
    }

    public long toll() {
        return f2;
    }
}
