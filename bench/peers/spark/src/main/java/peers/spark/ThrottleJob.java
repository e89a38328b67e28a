package peers.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.GroupStateTimeout;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import peers.rules.BrokerLog;
import peers.rules.Tables;

/** Bronze in, the two tables out, as a streaming query with a state object per broker. Arguments: BRONZE NAMES TARGET. */
public final class ThrottleJob {
    private static final long MICRO_BATCH_BYTES = 256L << 20;

    private ThrottleJob() {}

    public static void main(String[] args) throws Exception {
        SparkSession spark = SparkSession.builder().appName("throttle-peer").getOrCreate();
        long began = System.nanoTime();
        String bronze = args[0];
        String names = args[1];
        Path target = Path.of(args[2]);
        Path control = Files.createDirectories(target.resolve("_control"));
        runToEnd(spark, bronze, control.toString(), names, target);
        drain(spark, names, control.toString());
        runToEnd(spark, bronze, control.toString(), names, target);
        System.out.printf("job seconds %.3f%n", (System.nanoTime() - began) / 1e9);
        spark.stop();
    }

    private static void runToEnd(SparkSession spark, String bronze, String control, String names, Path target) throws Exception {
        var outcome = Encoders.row(
                new StructType()
                        .add(Tables.SUBSCRIPTION_THROTTLE.name(), Schemas.outcome(Tables.SUBSCRIPTION_THROTTLE))
                        .add(Tables.LIMITER_WINDOWS.name(), Schemas.outcome(Tables.LIMITER_WINDOWS)));
        read(spark, bronze)
                .union(read(spark, control))
                .groupBy(col("broker_id"))
                .as(Encoders.LONG(), Encoders.row(Schemas.bronze()))
                .flatMapGroupsWithState(
                        new BrokerFunction(), OutputMode.Append(), Encoders.kryo(BrokerLog.class), outcome, GroupStateTimeout.NoTimeout())
                .writeStream()
                .outputMode(OutputMode.Append())
                .trigger(Trigger.AvailableNow())
                .option("checkpointLocation", target.resolve("_checkpoint").toString())
                .foreachBatch(new TableWriter(names, target.toString()))
                .start()
                .awaitTermination();
    }

    private static Dataset<Row> read(SparkSession spark, String folder) {
        return spark.readStream()
                .schema(Schemas.bronze())
                .option("maxBytesPerTrigger", MICRO_BATCH_BYTES)
                .option("recursiveFileLookup", "true")
                .parquet(folder);
    }

    /** A control row for each broker: its log ends here. */
    private static void drain(SparkSession spark, String names, String control) {
        Dataset<Row> brokers = spark.read().parquet(names).where("level = 'broker'");
        Column[] columns = Arrays.stream(Schemas.bronze().fields()).map(ThrottleJob::drained).toArray(Column[]::new);
        brokers.select(columns).coalesce(1).write().mode("append").parquet(control);
    }

    private static Column drained(StructField field) {
        return switch (field.name()) {
            case "broker_id" -> col("id").as(field.name());
            case "type_code" -> lit(BrokerFunction.DRAIN).as(field.name());
            default -> lit(null).cast(field.dataType()).as(field.name());
        };
    }
}
