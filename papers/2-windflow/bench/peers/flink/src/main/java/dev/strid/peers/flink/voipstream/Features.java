// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import org.apache.flink.api.java.tuple.Tuple9;

/** Calling, called, start, RCR, CT24, ECR24, ECR, ENCR, mean duration of all calls. */
@SuppressWarnings("unchecked") // Tuple.copy
public class Features
        extends Tuple9<Long, Long, Long, Double, Double, Double, Double, Double, Double> {
    public double rcr() {
        return f3;
    }

    public double ct24() {
        return f4;
    }

    public double ecr24() {
        return f5;
    }

    public double ecr() {
        return f6;
    }

    public double encr() {
        return f7;
    }

    public double mean() {
        return f8;
    }
}
