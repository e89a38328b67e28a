import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** HDFS with one name node and one data node in this process: {@code Mini PORT FOLDER}. It ends when its standard input ends. */
public final class Mini {
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        var builder = new MiniDFSCluster.Builder(new Configuration(), new File(arguments[1]));
        try (MiniDFSCluster cluster = builder.nameNodePort(port).numDataNodes(1).format(true).build()) {
            cluster.waitActive();
            System.out.println("up");
            while (System.in.read() >= 0) { }
        }
        System.exit(0); // threads of the name node are left
    }
}
