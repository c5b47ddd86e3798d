// A store that speaks S3, with its objects in a folder: starts, and says so on standard output. Ends on SIGTERM.

import java.io.File;
import java.net.URI;
import java.util.List;
import java.util.Properties;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.jclouds.ContextBuilder;
import org.jclouds.blobstore.BlobStore;
import org.jclouds.blobstore.BlobStoreContext;
import org.jclouds.blobstore.domain.Blob;
import org.jclouds.blobstore.domain.MultipartPart;
import org.jclouds.blobstore.domain.MultipartUpload;
import org.jclouds.blobstore.domain.PageSet;
import org.jclouds.blobstore.domain.StorageMetadata;
import org.jclouds.blobstore.options.ListContainerOptions;
import org.jclouds.blobstore.options.PutOptions;
import org.jclouds.blobstore.util.ForwardingBlobStore;

public final class S3Store {
    /** Arguments: a folder with a folder for each bucket in it, address, access key, secret key. */
    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]).getAbsoluteFile();
        Parent.endWith(folder.getParentFile());
        Properties properties = new Properties();
        properties.setProperty("jclouds.filesystem.basedir", folder.getPath());
        BlobStore objects = ContextBuilder.newBuilder("filesystem-nio2")
            .credentials("none", "none")
            .overrides(properties)
            .build(BlobStoreContext.class)
            .getBlobStore();
        S3Proxy server = S3Proxy.builder()
            .blobStore(new OneAtATime(objects))
            .endpoint(URI.create(arguments[1]))
            .awsAuthentication(AuthenticationType.AWS_V4, arguments[2], arguments[3])
            .ignoreUnknownHeaders(true)
            .build();
        try {
            server.start();
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        System.out.println("store is ready");
    }

    /** A list shows what was written before it was asked for, as in S3: here it reads a folder that must not change meanwhile. */
    private static final class OneAtATime extends ForwardingBlobStore {
        OneAtATime(BlobStore objects) {
            super(objects);
        }

        @Override
        public synchronized PageSet<? extends StorageMetadata> list(String bucket, ListContainerOptions options) {
            return super.list(bucket, options);
        }

        @Override
        public synchronized String putBlob(String bucket, Blob object) {
            return super.putBlob(bucket, object);
        }

        @Override
        public synchronized String putBlob(String bucket, Blob object, PutOptions options) {
            return super.putBlob(bucket, object, options);
        }

        @Override
        public synchronized String completeMultipartUpload(MultipartUpload upload, List<MultipartPart> parts) {
            return super.completeMultipartUpload(upload, parts);
        }

        @Override
        public synchronized void removeBlob(String bucket, String key) {
            super.removeBlob(bucket, key);
        }

        @Override
        public synchronized void removeBlobs(String bucket, Iterable<String> keys) {
            super.removeBlobs(bucket, keys);
        }
    }
}
