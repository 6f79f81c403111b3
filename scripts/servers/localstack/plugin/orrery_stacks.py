"""Makes CloudFormation look every 20 ms whether a resource is ready. LocalStack itself pauses for a second after each look,
which is most of the time in which it creates functions.
"""

from localstack import config
from localstack.runtime import hooks

PAUSE = 0.02  # seconds


@hooks.on_infra_start()
def deploy_without_pauses():
    from localstack.services.cloudformation.resource_provider import ResourceProviderExecutor

    deploy = ResourceProviderExecutor.deploy_loop

    def deploy_loop(self, resource_provider, resource, raw_payload, max_timeout=config.CFN_PER_RESOURCE_TIMEOUT, sleep_time=PAUSE):
        return deploy(self, resource_provider, resource, raw_payload, max_timeout, sleep_time)

    ResourceProviderExecutor.deploy_loop = deploy_loop
