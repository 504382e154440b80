// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import dev.strid.peers.Input;
import dev.strid.peers.Options;
import dev.strid.peers.flink.Application;
import dev.strid.peers.flink.EvenKeys;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * The rules of voip-stream, its compact graph, with filters. Replayed calls keep their times, as
 * they do in `strid run`.
 */
public final class VoipStream implements Application<Call, Score> {
    private static final int COLUMNS = 5;

    @Override
    public String name() {
        return "voip-stream";
    }

    @Override
    public TypeInformation<Call> recordType() {
        return TypeInformation.of(Call.class);
    }

    @Override
    public List<Call> read(Path input, Options options) {
        return Input.csv(input, COLUMNS, Call::parse);
    }

    /** One: what `now` is depends on the order of all calls. */
    @Override
    public int sources(int parallelism) {
        return 1;
    }

    @Override
    public DataStream<Score> build(DataStream<Call> calls, Options options) {
        Settings settings = Settings.of(options);
        EvenKeys keys = new EvenKeys(calls.getExecutionEnvironment().getParallelism());
        return calls
                .flatMap(new SidesFunction(settings))
                .setParallelism(1)
                .keyBy(side -> keys.keyOf(side.shard()), Types.INT)
                .process(new FeaturesFunction(settings))
                .map(new Score.Scorer())
                .filter(score -> score.score() >= settings.threshold());
    }

    @Override
    public String row(Score score) {
        return score.row();
    }
}
