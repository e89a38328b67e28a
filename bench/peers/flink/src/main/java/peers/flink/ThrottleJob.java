package peers.flink;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.TupleTypeInfo;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.enumerate.NonSplittingRecursiveEnumerator;
import org.apache.flink.core.fs.Path;
import org.apache.flink.formats.parquet.ParquetColumnarRowInputFormat;
import org.apache.flink.formats.parquet.row.ParquetRowDataBuilder;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.util.OutputTag;
import peers.rules.Event;
import peers.rules.Table;
import peers.rules.Tables;

/** Bronze in, the two tables out, as a streaming job with a state object per broker. Arguments: BRONZE NAMES TARGET SLOTS. */
public final class ThrottleJob {
    private static final int ROWS_OF_A_BATCH = 2048;
    private static final Duration CHECKPOINT_INTERVAL = Duration.ofSeconds(10);

    private ThrottleJob() {}

    public static void main(String[] args) throws Exception {
        Path bronze = new Path(args[0]);
        String names = args[1];
        Path target = new Path(args[2]);
        int slots = Integer.parseInt(args[3]);
        long began = System.nanoTime();
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(slots, configuration(target));
        env.enableCheckpointing(CHECKPOINT_INTERVAL.toMillis());
        env.getConfig().enableObjectReuse();
        OutputTag<RowData> limiterWindows = new OutputTag<>("limiter_windows", InternalTypeInfo.of(RowTypes.of(Tables.LIMITER_WINDOWS)));
        SingleOutputStreamOperator<RowData> rows =
                env.fromSource(source(bronze), WatermarkStrategy.noWatermarks(), "bronze")
                        .map(new ToEvent())
                        .returns(new TupleTypeInfo<Tuple2<Long, Event>>(Types.LONG, new EventType()))
                        .keyBy(event -> event.f0, Types.LONG)
                        .process(new BrokerFunction(names, limiterWindows))
                        .returns(InternalTypeInfo.of(RowTypes.of(Tables.SUBSCRIPTION_THROTTLE)));
        rows.sinkTo(sink(Tables.SUBSCRIPTION_THROTTLE, target));
        rows.getSideOutput(limiterWindows).sinkTo(sink(Tables.LIMITER_WINDOWS, target));
        env.execute("throttle-peer");
        System.out.printf("job seconds %.3f%n", (System.nanoTime() - began) / 1e9);
    }

    private static Configuration configuration(Path target) {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, "hashmap");
        // A log with a hole has it again after a restart.
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        // Hadoop's own hook runs after the job.
        configuration.set(CoreOptions.CHECK_LEAKED_CLASSLOADER, false);
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, new Path(target, "_checkpoints").makeQualified(local()).toString());
        return configuration;
    }

    private static org.apache.flink.core.fs.FileSystem local() {
        return org.apache.flink.core.fs.local.LocalFileSystem.getSharedInstance();
    }

    private static FileSource<RowData> source(Path bronze) {
        RowType type = RowTypes.bronze();
        var format =
                new ParquetColumnarRowInputFormat<FileSourceSplit>(
                        new org.apache.hadoop.conf.Configuration(), type, InternalTypeInfo.of(type), ROWS_OF_A_BATCH, true, true);
        var builder = FileSource.forBulkFileFormat(format, bronze);
        builder.setFileEnumerator(NonSplittingRecursiveEnumerator::new);
        builder.setSplitAssigner(OldestFirst::new);
        return builder.build();
    }

    private static FileSink<RowData> sink(Table table, Path target) {
        var writers = ParquetRowDataBuilder.createWriterFactory(RowTypes.of(table), new org.apache.hadoop.conf.Configuration(), true);
        OutputFileConfig named = OutputFileConfig.builder().withPartSuffix(".parquet").build();
        return FileSink.forBulkFormat(new Path(target, table.name()), writers).withOutputFileConfig(named).build();
    }
}
