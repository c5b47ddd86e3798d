// A broker and controller in one JVM: formats its folder if that is new, starts, and says so on standard output.
// Ends on SIGTERM like any broker.

import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Time;

public final class KafkaBroker {
    private static final String CLUSTER_ID = "aGlnaHdhdGVyLXRlc3Rrdw";

    public static void main(String[] arguments) throws Exception {
        String file = arguments[0];
        Properties properties = new Properties();
        try (InputStream input = new FileInputStream(file)) {
            properties.load(input);
        }
        Parent.endWith(new File(file).getAbsoluteFile().getParentFile());
        if (!new File(properties.getProperty("log.dirs"), "meta.properties").exists()) {
            String[] format = {"format", "--cluster-id", CLUSTER_ID, "--config", file};
            int code = StorageTool.execute(format, System.err);
            if (code != 0) {
                Runtime.getRuntime().halt(code);
            }
        }
        KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
        try {
            server.startup();
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        System.out.println("broker is ready");
        server.awaitShutdown();
    }
}
