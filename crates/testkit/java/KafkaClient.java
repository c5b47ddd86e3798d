// A Kafka client of Apache's own: one JSON command a line on standard input, one JSON answer a line on standard output.
// {"id": 1, "do": "read", "topic": "t"} is answered by {"id": 1, "ok": ...} or {"id": 1, "error": "..."}; commands run
// side by side, answers come as they are ready. Keys, values and headers are Base64. Ends with standard input.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public final class KafkaClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long TIMEOUT_MS = 30_000;
    private static final long METADATA_POLL_MS = 10;

    private final String bootstrap;
    private final Admin admin;
    private final KafkaProducer<byte[], byte[]> producer;

    private KafkaClient(String bootstrap) {
        this.bootstrap = bootstrap;
        Properties properties = properties();
        properties.put("default.api.timeout.ms", String.valueOf(TIMEOUT_MS));
        admin = Admin.create(properties);
        Properties forProducer = properties();
        forProducer.put("acks", "all");
        forProducer.put("delivery.timeout.ms", String.valueOf(TIMEOUT_MS));
        forProducer.put("request.timeout.ms", "10000");
        forProducer.put("max.block.ms", String.valueOf(TIMEOUT_MS));
        producer = new KafkaProducer<>(forProducer, new ByteArraySerializer(), new ByteArraySerializer());
    }

    public static void main(String[] arguments) throws Exception {
        KafkaClient client = new KafkaClient(arguments[0]);
        PrintStream out = System.out;
        ExecutorService workers = Executors.newCachedThreadPool();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode command = JSON.readTree(line);
            workers.execute(() -> {
                byte[] answer = (client.answer(command) + "\n").getBytes(StandardCharsets.UTF_8);
                synchronized (out) {
                    out.write(answer, 0, answer.length);
                    out.flush();
                }
            });
        }
        Runtime.getRuntime().halt(0);
    }

    private String answer(JsonNode command) {
        ObjectNode answer = JSON.createObjectNode();
        answer.set("id", command.get("id"));
        try {
            answer.set("ok", run(command));
        } catch (Throwable failure) {
            Throwable cause = failure instanceof ExecutionException ? failure.getCause() : failure;
            answer.put("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
        return answer.toString();
    }

    private JsonNode run(JsonNode command) throws Exception {
        String topic = command.path("topic").asText();
        switch (command.get("do").asText()) {
            case "topics":
                return JSON.valueToTree(admin.listTopics().names().get());
            case "create_topic":
                return createTopic(topic, command);
            case "delete_topic":
                admin.deleteTopics(List.of(topic)).all().get();
                await("topic " + topic + " is gone", () -> describe(topic) == null);
                return JSON.nullNode();
            case "add_partitions":
                int count = command.get("partitions").asInt();
                admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(count))).all().get();
                await("topic " + topic + " has leaders", () -> hasLeaders(topic, count));
                return JSON.nullNode();
            case "topic_configs":
                return topicConfigs(topic);
            case "produce":
                return produce(producer, topic, command.get("records"));
            case "transaction":
                return transaction(topic, command);
            case "read":
                return read(topic, command);
            case "end_offsets":
                return endOffsets(topic, isolation(command));
            case "group_offsets":
                return groupOffsets(command.get("group").asText());
            case "create_acl":
                return createAcl(command);
            default:
                throw new IllegalArgumentException("no command " + command.get("do"));
        }
    }

    private JsonNode createTopic(String topic, JsonNode command) throws Exception {
        int partitions = command.get("partitions").asInt();
        Map<String, String> configs = new HashMap<>();
        command.get("configs").fields()
            .forEachRemaining(entry -> configs.put(entry.getKey(), entry.getValue().asText()));
        NewTopic wanted = new NewTopic(topic, Optional.of(partitions), Optional.of((short) 1)).configs(configs);
        admin.createTopics(List.of(wanted)).all().get();
        await("topic " + topic + " has leaders", () -> hasLeaders(topic, partitions));
        return JSON.nullNode();
    }

    private TopicDescription describe(String topic) {
        try {
            return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof UnknownTopicOrPartitionException) {
                return null;
            }
            throw new IllegalStateException(failure.getCause());
        } catch (InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private boolean hasLeaders(String topic, int partitions) {
        TopicDescription found = describe(topic);
        return found != null
            && found.partitions().size() == partitions
            && found.partitions().stream()
                .allMatch(partition -> partition.leader() != null && !partition.leader().isEmpty());
    }

    // The controller has decided before the broker has heard of it: there is nothing to wait on but the answer itself.
    private static void await(String what, BooleanSupplier reached) throws Exception {
        long end = System.nanoTime() + TIMEOUT_MS * 1_000_000;
        while (!reached.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("never reached: " + what);
            }
            Thread.sleep(METADATA_POLL_MS);
        }
    }

    private JsonNode topicConfigs(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        ObjectNode configs = JSON.createObjectNode();
        admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()
            .forEach(entry -> configs.put(entry.name(), entry.value()));
        return configs;
    }

    // Sends records in a transaction of their own and ends it as asked.
    private JsonNode transaction(String topic, JsonNode command) throws Exception {
        Properties properties = properties();
        properties.put("transactional.id", "testkit-" + UUID.randomUUID());
        properties.put("max.block.ms", String.valueOf(TIMEOUT_MS));
        try (KafkaProducer<byte[], byte[]> own =
                new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            own.initTransactions();
            own.beginTransaction();
            JsonNode places = produce(own, topic, command.get("records"));
            if (command.get("commit").asBoolean()) {
                own.commitTransaction();
            } else {
                own.abortTransaction();
            }
            return places;
        }
    }

    private JsonNode produce(KafkaProducer<byte[], byte[]> producer, String topic, JsonNode records) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode record : records) {
            Integer partition = record.path("partition").isNumber() ? record.get("partition").asInt() : null;
            Long timestamp = record.path("timestamp").isNumber() ? record.get("timestamp").asLong() : null;
            ProducerRecord<byte[], byte[]> message = new ProducerRecord<>(
                topic, partition, timestamp, bytes(record.path("key")), bytes(record.path("value")));
            for (JsonNode header : record.path("headers")) {
                message.headers().add(header.get(0).asText(), bytes(header.get(1)));
            }
            sent.add(producer.send(message));
        }
        producer.flush();
        ArrayNode places = JSON.createArrayNode();
        for (Future<RecordMetadata> future : sent) {
            RecordMetadata place = future.get();
            places.addArray().add(place.partition()).add(place.offset());
        }
        return places;
    }

    // Everything from the given positions (or the start) to the current end. With "wait_ms" and nothing new, waits that
    // long for the first new record.
    private JsonNode read(String topic, JsonNode command) throws Exception {
        ArrayNode records = JSON.createArrayNode();
        ObjectNode positions = JSON.createObjectNode();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(isolation(command))) {
            List<TopicPartition> partitions = partitions(topic);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            command.path("from").fields().forEachRemaining(entry ->
                consumer.seek(new TopicPartition(topic, Integer.parseInt(entry.getKey())), entry.getValue().asLong()));
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long waitEnd = System.nanoTime() + command.path("wait_ms").asLong(0) * 1_000_000;
            long hardEnd = System.nanoTime() + TIMEOUT_MS * 1_000_000;
            while (true) {
                boolean atEnd = partitions.stream().allMatch(one -> consumer.position(one) >= ends.get(one));
                if (atEnd && (records.size() > 0 || System.nanoTime() > waitEnd)) {
                    break;
                }
                if (!atEnd && System.nanoTime() > hardEnd) {
                    throw new IllegalStateException("the end of topic " + topic + " was not reached");
                }
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(atEnd ? 50 : 500))) {
                    records.add(recordJson(record));
                }
            }
            partitions.forEach(one -> positions.put(String.valueOf(one.partition()), consumer.position(one)));
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.set("records", records);
        answer.set("positions", positions);
        return answer;
    }

    private static ObjectNode recordJson(ConsumerRecord<byte[], byte[]> record) {
        ObjectNode json = JSON.createObjectNode();
        json.put("partition", record.partition());
        json.put("offset", record.offset());
        json.put("timestamp", record.timestamp());
        json.put("key", text(record.key()));
        json.put("value", text(record.value()));
        ArrayNode headers = json.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(text(header.value()));
        }
        return json;
    }

    private JsonNode endOffsets(String topic, String isolation) throws Exception {
        ObjectNode ends = JSON.createObjectNode();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(isolation)) {
            consumer.endOffsets(partitions(topic))
                .forEach((partition, offset) -> ends.put(String.valueOf(partition.partition()), offset));
        }
        return ends;
    }

    private List<TopicPartition> partitions(String topic) {
        TopicDescription found = describe(topic);
        if (found == null) {
            throw new IllegalArgumentException("no topic " + topic);
        }
        List<TopicPartition> partitions = new ArrayList<>();
        found.partitions().forEach(partition -> partitions.add(new TopicPartition(topic, partition.partition())));
        return partitions;
    }

    private JsonNode groupOffsets(String group) throws Exception {
        ArrayNode offsets = JSON.createArrayNode();
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().forEach((partition, offset) -> {
            if (offset != null) {
                offsets.addArray().add(partition.topic()).add(partition.partition()).add(offset.offset());
            }
        });
        return offsets;
    }

    private JsonNode createAcl(JsonNode command) throws Exception {
        ResourceType type = ResourceType.fromString(command.get("resource").asText());
        ResourcePattern resource = new ResourcePattern(type, command.get("name").asText(), PatternType.LITERAL);
        AclOperation operation = AclOperation.fromString(command.get("operation").asText());
        AccessControlEntry entry = new AccessControlEntry(
            command.get("principal").asText(), "*", operation, AclPermissionType.ALLOW);
        admin.createAcls(List.of(new AclBinding(resource, entry))).all().get();
        return JSON.nullNode();
    }

    private static String isolation(JsonNode command) {
        return command.path("isolation").asText("read_committed");
    }

    private KafkaConsumer<byte[], byte[]> consumer(String isolation) {
        Properties properties = properties();
        properties.put("isolation.level", isolation);
        properties.put("enable.auto.commit", "false");
        properties.put("allow.auto.create.topics", "false");
        properties.put("default.api.timeout.ms", String.valueOf(TIMEOUT_MS));
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Properties properties() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("reconnect.backoff.max.ms", "200");
        properties.put("enable.metrics.push", "false");
        return properties;
    }

    private static byte[] bytes(JsonNode text) {
        return text.isTextual() ? Base64.getDecoder().decode(text.asText()) : null;
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}
