"""Keeps the objects of LocalStack's S3 below its TMPDIR. LocalStack itself keeps them in one folder of /tmp, which all
runs on a machine share, and which stays when they end.
"""

import os
import tempfile

from localstack.runtime import hooks


@hooks.on_infra_start()
def keep_objects_with_the_run():
    from localstack.services.s3 import provider  # not before LocalStack is set up

    provider.DEFAULT_S3_TMP_DIR = os.path.join(tempfile.gettempdir(), "s3")
