"""Keeps the state of LocalStack in the folder ORRERY_STATE, so that a later run that creates the same stacks goes on
with it: objects of S3 and their metadata, tables of DynamoDB, messages of standard SQS queues that are not deleted.
Without ORRERY_STATE it does nothing.

Each request is kept before it is answered. So a run that is killed loses only requests without an answer. Buckets,
tables and queues themselves are not kept: the stacks create them again, and then find their content. The names that
CloudFormation and API Gateway generate are therefore the same in each run. Not kept: buckets of the CDK, tags and
locks of objects, incomplete uploads.
"""

import hashlib
import json
import os
import shutil
import threading
import time
from datetime import datetime
from pathlib import Path

from localstack.runtime import hooks


@hooks.on_infra_start()
def keep_state():
    if folder := os.environ.get("ORRERY_STATE"):
        names_that_last()
        keep_objects(Path(folder) / "s3")
        keep_tables(Path(folder) / "dynamodb")
        keep_messages(Path(folder) / "sqs")


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def replace_file(path, write):
    """Writes a file, which is either complete or absent afterwards, even if the machine stops."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{threading.get_ident()}.part")
    try:
        with open(part, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def names_that_last():
    from localstack.services.cloudformation import provider_utils
    from moto.apigateway.models import ApigwRestApiIdentifier

    def name(stack_name, logical_resource_id):
        return f"{stack_name[:28]}-{logical_resource_id[:24]}-{digest(stack_name, logical_resource_id)[:8]}"

    provider_utils.generate_default_name = name
    ApigwRestApiIdentifier.generate = lambda self, existing_ids=None, tags=None: digest(self.unique_identifier)[:10]


def keep_objects(root):
    """Keeps each version of an object as a file: a line with its metadata as JSON, and then its content."""
    from localstack.services.s3 import models, provider
    from localstack.services.s3.storage import ephemeral

    times = ("last_modified", "expires", "lock_until")
    stores = []

    def path_of(bucket, s3_object):
        return root / bucket / f"{digest(s3_object.key, s3_object.version_id or 'null')}.object"

    class KeptStore(ephemeral.EphemeralS3ObjectStore):
        """The store of the contents. It reads the kept content of an object of an earlier run when it is first needed."""

        def __init__(self, root_directory=None):
            super().__init__(root_directory)
            self.reading = threading.Lock()
            stores.append(self)

        def open(self, bucket, s3_object, mode="r"):
            if mode == "r" and isinstance(s3_object, models.S3Object):
                self.read_kept(bucket, s3_object)
            return super().open(bucket, s3_object, mode)

        def read_kept(self, bucket, s3_object):
            key = self._key_from_s3_object(s3_object)
            with self.reading:
                if self._get_object_file(bucket, key) or not path_of(bucket, s3_object).exists():
                    return
                content = ephemeral.LockedSpooledTemporaryFile(
                    dir=os.path.join(self.root_directory, bucket), max_size=ephemeral.S3_MAX_FILE_SIZE_BYTES)
                with open(path_of(bucket, s3_object), "rb") as kept:
                    kept.readline()
                    shutil.copyfileobj(kept, content)
                content.internal_last_modified = s3_object.internal_last_modified
                self._filesystem[bucket]["keys"][key] = content

        def delete_bucket(self, bucket):
            super().delete_bucket(bucket)
            shutil.rmtree(root / bucket, ignore_errors=True)

    provider.EphemeralS3ObjectStore = KeptStore

    def write(bucket, s3_object):
        marker = isinstance(s3_object, models.S3DeleteMarker)
        metadata = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in vars(s3_object).items()}
        header = json.dumps({"kept": time.time_ns(), "marker": marker, "object": metadata}).encode() + b"\n"

        def write_to(file):
            file.write(header)
            if marker:
                return
            store = stores[-1]
            content = store._get_object_file(bucket, store._key_from_s3_object(s3_object))
            with content.position_lock:
                at = content.tell()
                content.seek(0)
                shutil.copyfileobj(content, file)
                content.seek(at)

        replace_file(path_of(bucket, s3_object), write_to)

    def read(bucket):
        """Returns the kept objects of a bucket, oldest first."""
        found = []
        for path in (root / bucket).glob("*.object"):
            with open(path, "rb") as file:
                header = json.loads(file.readline())
            s3_object = models.S3DeleteMarker.__new__(models.S3DeleteMarker) if header["marker"] else models.S3Object(key="")
            for name, value in header["object"].items():
                setattr(s3_object, name, datetime.fromisoformat(value) if name in times and value else value)
            found.append((header["kept"], s3_object))
        found.sort(key=lambda each: each[0])
        return [s3_object for _, s3_object in found]

    def keep(bucket, objects):
        """Makes a store of the names of a bucket's objects keep them, and adds those that were kept."""
        if bucket.startswith("cdk-"):
            return
        versioned = isinstance(objects, models.VersionedKeyStore)
        for s3_object in read(bucket):
            version = s3_object.version_id
            if versioned:
                s3_object.version_id = version or "null"
                if not objects.get(s3_object.key, s3_object.version_id):
                    objects.set(s3_object.key, s3_object)
            elif version in (None, "null"):  # other versions are added when the bucket becomes versioned
                s3_object.version_id = None
                objects.set(s3_object.key, s3_object)
        objects.kept_bucket = bucket

    def set_attribute(bucket, name, value):
        object.__setattr__(bucket, name, value)
        if name == "objects":
            keep(bucket.name, value)

    models.S3Bucket.__setattr__ = set_attribute

    def keeping(cls):
        set_object, pop_object = cls.set, cls.pop

        def set_kept(self, object_key, s3_object):
            if bucket := getattr(self, "kept_bucket", None):
                write(bucket, s3_object)
            set_object(self, object_key, s3_object)

        def pop_kept(self, object_key, *args, **kwargs):
            found = pop_object(self, object_key, *args, **kwargs)
            if found is not None and (bucket := getattr(self, "kept_bucket", None)):
                path_of(bucket, found).unlink(missing_ok=True)
            return found

        cls.set, cls.pop = set_kept, pop_kept

    keeping(models.KeyStore)
    keeping(models.VersionedKeyStore)


def keep_tables(root):
    """Makes DynamoDB Local write to files, and CloudFormation take a table that exists instead of creating it."""
    from localstack.services.cloudformation import provider_utils
    from localstack.services.dynamodb import server
    from localstack.services.dynamodb.resource_providers import aws_dynamodb_table as table

    create_server, create = server.DynamodbServer.__init__, table.DynamoDBTableProvider.create

    def server_with_files(self, *args, **kwargs):
        create_server(self, *args, **kwargs)
        self.db_path = str(root)

    def create_or_take(self, request):
        model, dynamodb = request.desired_state, request.aws_client_factory.dynamodb
        if not request.custom_context.get(table.REPEATED_INVOCATION):
            name = model.get("TableName") or provider_utils.generate_default_name(request.stack_name, request.logical_resource_id)
            try:
                found = dynamodb.describe_table(TableName=name)["Table"]
            except dynamodb.exceptions.ResourceNotFoundException:
                return create(self, request)
            if found["KeySchema"] != model["KeySchema"]:
                raise ValueError(f"the table {name} of an earlier run in {root} has other keys; use another folder")
            model["TableName"], model["Arn"] = name, found["TableArn"]
            request.custom_context[table.REPEATED_INVOCATION] = True
        return create(self, request)

    server.DynamodbServer.__init__ = server_with_files
    table.DynamoDBTableProvider.create = create_or_take


def keep_messages(root):
    """Keeps each message of a standard queue until it is deleted. A message that was received is delivered again.
    Notifications of S3 become part of the request that causes them: otherwise a kill could lose them."""
    from localstack.services.s3.notifications import NotificationDispatcher
    from localstack.services.sqs.models import SqsMessage, StandardQueue

    NotificationDispatcher._submit_notification = lambda self, notifier, ctx, config: notifier.notify(ctx, config)

    create, put, clear = StandardQueue.__init__, StandardQueue.put, StandardQueue.clear
    removed = StandardQueue._on_remove_message

    def path_of(message):
        return root / f"{message['MessageId']}.message"

    def create_kept(self, name, *args, **kwargs):
        create(self, name, *args, **kwargs)
        for path in sorted(root.glob("*.message")):
            kept = json.loads(path.read_text())
            if kept["queue"] == name:
                message = SqsMessage(kept["sent"], kept["message"])
                message.visibility_timeout, message.delay_seconds = self.visibility_timeout, 0
                self._put_message(message)

    def put_kept(self, message, *args, **kwargs):
        kept = {"queue": self.name, "sent": time.time(), "message": message}
        replace_file(path_of(message), lambda file: file.write(json.dumps(kept).encode()))
        return put(self, message, *args, **kwargs)

    def removed_kept(self, message):
        removed(self, message)
        remove(self, path_of(message.message))

    def clear_kept(self):
        clear(self)
        for path in root.glob("*.message"):
            remove(self, path)

    def remove(queue, path):
        """Removes a message unless it has been moved to another queue."""
        if path.exists() and json.loads(path.read_text())["queue"] == queue.name:
            path.unlink(missing_ok=True)

    StandardQueue.__init__, StandardQueue.put, StandardQueue.clear = create_kept, put_kept, clear_kept
    StandardQueue._on_remove_message = removed_kept
