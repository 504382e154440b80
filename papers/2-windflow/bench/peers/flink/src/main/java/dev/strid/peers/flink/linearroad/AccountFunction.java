// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import java.util.Iterator;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Accounts of cars. Charges and questions come by different ways, so a question of second t waits
 * until the watermark says that all charges of earlier seconds have come: an event-time timer.
 * Charges of second t go into the balance when no question of second t can come any more.
 */
public class AccountFunction extends KeyedCoProcessFunction<Integer, Charge, Question, Answer> {
    private transient ValueState<Account> accounts;
    private transient Answer answer;

    @Override
    public void open(OpenContext unused) {
        accounts =
                getRuntimeContext().getState(new ValueStateDescriptor<>("account", Account.class));
        answer = new Answer();
    }

    @Override
    public void processElement1(Charge charge, Context context, Collector<Answer> out)
            throws Exception {
        Account account = account();
        if (!account.charges.isEmpty()) {
            account.settle(answeredBefore(context.timerService().currentWatermark()));
        }
        Charge kept = new Charge(); // the argument is used again
        kept.setFields(charge.f0, charge.f1, charge.f2);
        account.charges.add(kept);
    }

    @Override
    public void processElement2(Question question, Context context, Collector<Answer> out)
            throws Exception {
        if (dueOf(question) <= context.timerService().currentWatermark()) {
            answer(question, accounts.value(), out);
            return;
        }
        Question kept = new Question();
        kept.setFields(question.f0, question.f1, question.f2, question.f3);
        account().questions.add(kept);
        context.timerService().registerEventTimeTimer(dueOf(question));
    }

    @Override
    public void onTimer(long due, OnTimerContext context, Collector<Answer> out)
            throws Exception {
        Account account = accounts.value();
        for (Iterator<Question> at = account.questions.iterator(); at.hasNext(); ) {
            Question question = at.next();
            if (dueOf(question) == due) {
                answer(question, account, out);
                at.remove();
            }
        }
    }

    /** The watermark, in milliseconds, behind which no charge of an earlier second comes. */
    private static long dueOf(Question question) {
        return question.time() * 1000L - 1;
    }

    /** No question of a second before this one is to be answered any more. */
    private static long answeredBefore(long watermark) {
        return watermark < 0 ? 0 : (watermark + 1) / 1000;
    }

    private Account account() throws Exception {
        Account account = accounts.value();
        if (account == null) {
            account = new Account();
            accounts.update(account);
        }
        return account;
    }

    private void answer(Question question, Account account, Collector<Answer> out) {
        if (account != null) account.settle(question.time());
        answer.setFields(
                Answer.BALANCE,
                question.time(),
                question.query(),
                account == null ? 0 : account.changed,
                account == null ? 0L : account.balance,
                question.timestamp());
        out.collect(answer);
    }
}
