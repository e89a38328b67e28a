package peers.spark;

import java.util.Arrays;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import peers.rules.BronzeColumn;
import peers.rules.Column;
import peers.rules.Table;

/** The rules' columns as Spark's types. */
final class Schemas {
    private Schemas() {}

    static StructType bronze() {
        return new StructType(
                Arrays.stream(BronzeColumn.values())
                        .map(column -> DataTypes.createStructField(column.columnName(), bronzeType(column.kind), true))
                        .toArray(StructField[]::new));
    }

    /** Rows of a table on their way out: names are ids, times µs. */
    static StructType outcome(Table table) {
        return new StructType(
                table.columns().stream()
                        .map(column -> DataTypes.createStructField(column.name(), outcomeType(column.type()), true))
                        .toArray(StructField[]::new));
    }

    private static DataType bronzeType(BronzeColumn.Kind kind) {
        return switch (kind) {
            case LONG -> DataTypes.LongType;
            case INT -> DataTypes.IntegerType;
            case TEXT -> DataTypes.StringType;
            case FLAG -> DataTypes.BooleanType;
            case TEXTS -> DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType);
        };
    }

    private static DataType outcomeType(Column.Type type) {
        return switch (type) {
            case ID, LONG, TIMESTAMP -> DataTypes.LongType;
            case INT -> DataTypes.IntegerType;
            case DOUBLE -> DataTypes.DoubleType;
            case BOOLEAN -> DataTypes.BooleanType;
            case STRING -> DataTypes.StringType;
        };
    }
}
