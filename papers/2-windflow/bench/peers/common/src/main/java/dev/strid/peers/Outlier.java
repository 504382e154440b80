// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;

/** A transaction that ends an unlikely sequence of states. */
public final class Outlier implements Serializable {
    public String account;
    public String transaction;
    public double score;

    public Outlier() {}

    public Outlier(String account, String transaction, double score) {
        this.account = account;
        this.transaction = transaction;
        this.score = score;
    }

    public String row() {
        return Input.cell(account) + ',' + Input.cell(transaction) + ',' + score;
    }
}
