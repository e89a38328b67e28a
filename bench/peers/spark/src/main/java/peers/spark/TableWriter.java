package peers.spark;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.timestamp_micros;
import static org.apache.spark.sql.functions.when;

import java.util.List;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.storage.StorageLevel;
import peers.rules.Column;
import peers.rules.Table;
import peers.rules.Tables;

/** Writes the outcomes of a micro-batch: a folder for each table and micro-batch, so that a repeated one replaces its own. */
final class TableWriter implements VoidFunction2<Dataset<Row>, Long> {
    private static final long serialVersionUID = 1;
    private final String namesFolder;
    private final String target;

    TableWriter(String namesFolder, String target) {
        this.namesFolder = namesFolder;
        this.target = target;
    }

    @Override
    public void call(Dataset<Row> batch, Long batchId) {
        batch.persist(StorageLevel.MEMORY_AND_DISK());
        try {
            Dataset<Row> names = batch.sparkSession().read().parquet(namesFolder);
            for (Table table : List.of(Tables.SUBSCRIPTION_THROTTLE, Tables.LIMITER_WINDOWS)) {
                Dataset<Row> rows = batch.where(col(table.name()).isNotNull()).select(table.name() + ".*");
                String folder = "%s/%s/batch=%d".formatted(target, table.name(), batchId);
                withText(rows, names, table).write().mode(SaveMode.Overwrite).parquet(folder);
            }
        } finally {
            batch.unpersist();
        }
    }

    private static Dataset<Row> withText(Dataset<Row> rows, Dataset<Row> names, Table table) {
        Dataset<Row> brokers = names.where("level = 'broker'").select(col("id").as("broker"), col("broker").as("broker_name"));
        Dataset<Row> entities =
                names.where("level <> 'broker'")
                        .select(col("id").as("entity"), col("topic").as("topic_name"), col("subscription").as("subscription_name"));
        return rows.withColumn("entity", when(col("subscription").notEqual(0), col("subscription")).otherwise(col("topic")))
                .join(broadcast(brokers), "broker")
                .join(entities, "entity", "left")
                .select(table.columns().stream().map(TableWriter::value).toArray(org.apache.spark.sql.Column[]::new));
    }

    private static org.apache.spark.sql.Column value(Column column) {
        return switch (column.type()) {
            case ID -> col(column.name() + "_name").as(column.name());
            case TIMESTAMP -> timestamp_micros(col(column.name())).as(column.name());
            default -> col(column.name());
        };
    }
}
