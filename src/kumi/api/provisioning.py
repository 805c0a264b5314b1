"""Capacity that is asked for before a workload starts: ProvisioningRequest and what configures it.

    autoscaling.x-k8s.io   v1 (v1beta1 alike)   ProvisioningRequest       answered by a cluster autoscaler
    kueue.x-k8s.io         v1beta2 (v1beta1)    ProvisioningRequestConfig
    v1                                          PodTemplate               the pods that capacity is asked for

Source     Kubernetes autoscaler: ProvisioningRequest; Kueue: provisioning admission check.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.defaulting.structural import by_schema
from kumi.api.kueue import GROUP as QUEUES
from kumi.api.kueue import VERSION as QUEUES_VERSION
from kumi.api.kueue_v1beta1 import same
from kumi.api.meta import Condition, Object, View
from kumi.api.schema import LABEL_NAME, Int32, PodTemplate, keyed, say
from kumi.api.scheme import AGE, SCHEME, Column, Kind
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import subdomain

GROUP, VERSION = "autoscaling.x-k8s.io", "v1"


class PodTemplateReference(View):
    """A PodTemplate of the same namespace."""

    name: Annotated[str, say(required=True, maxLength=253)] = ""


class RequestedPodSet(View):
    """So many pods like that template."""

    pod_template_ref: Annotated[PodTemplateReference, say(required=True)] = field(default_factory=PodTemplateReference)
    count: Annotated[Int32, say(required=True, minimum=1)] = 1


class ProvisioningRequestSpec(View):
    """What is asked for; fixed."""

    pod_sets: Annotated[list[RequestedPodSet], say(required=True, minItems=1, maxItems=32)] = []
    provisioning_class_name: Annotated[str, say("who provides it, and how", required=True, maxLength=253)] = ""
    parameters: Annotated[dict[str, str], say("for the class", maxProperties=100)] = {}


class ProvisioningRequestStatus(View):
    """What the autoscaler says: Accepted, Provisioned, Failed, BookingExpired, CapacityRevoked."""

    conditions: Annotated[list[Condition], keyed("type")] = []
    provisioning_class_details: Annotated[dict[str, str], say(maxProperties=64)] = {}


class ProvisioningRequest(Object):
    """Capacity for a group of pods, all of it or none."""

    spec: ProvisioningRequestSpec = field(default_factory=ProvisioningRequestSpec)
    status: ProvisioningRequestStatus = field(default_factory=ProvisioningRequestStatus)


class RetryStrategy(View):
    """How often a request that failed is made again, and after how long."""

    backoff_limit_count: Annotated[Int32 | None, say(default=3)] = None
    backoff_base_seconds: Annotated[Int32 | None, say(default=60)] = None
    backoff_max_seconds: Annotated[Int32 | None, say(default=1800)] = None


class NodeSelectorUpdate(View):
    """A node label whose value the provider of the capacity tells."""

    key: Annotated[str, say(required=True, maxLength=317)] = ""
    value_from_provisioning_class_detail: Annotated[str, say(required=True, maxLength=32768)] = ""


class RequestPodSetUpdates(View):
    """What provisioned capacity adds to the pods."""

    node_selector: Annotated[list[NodeSelectorUpdate], keyed("key"), say(maxItems=8)] = []


class ProvisioningRequestConfigSpec(View):
    """How capacity is asked for."""

    provisioning_class_name: Annotated[str, say(required=True, maxLength=253, pattern=LABEL_NAME)] = ""
    parameters: Annotated[dict[str, str], say("for the class", maxProperties=100)] = {}
    managed_resources: Annotated[list[str], say("pod sets that ask for none need no capacity", maxItems=100)] = []
    retry_strategy: Annotated[RetryStrategy | None, say(default={})] = None
    pod_set_updates: RequestPodSetUpdates | None = None
    pod_set_merge_policy: Annotated[
        str | None, say(enum=["IdenticalPodTemplates", "IdenticalWorkloadSchedulingRequirements"])
    ] = None


class ProvisioningRequestConfig(Object):
    """The parameters of an admission check that asks for capacity. Cluster-scoped."""

    spec: ProvisioningRequestConfigSpec = field(default_factory=ProvisioningRequestConfigSpec)


class StoredPodTemplate(Object):
    """v1 PodTemplate."""

    template: PodTemplate = {}


_VALID = with_metadata(subdomain, lambda new, old: [])
"""nothing beyond metadata and schema"""

SCHEME.register(
    Kind(
        GROUP,
        VERSION,
        "ProvisioningRequest",
        "provisioningrequests",
        ProvisioningRequest,
        short_names=("provreq", "provreqs"),
        columns=(
            Column("Accepted", ".status.conditions[?(@.type=='Accepted')].status"),
            Column("Provisioned", ".status.conditions[?(@.type=='Provisioned')].status"),
            Column("Failed", ".status.conditions[?(@.type=='Failed')].status"),
            AGE,
        ),
        subresources=("status",),
        default=by_schema(ProvisioningRequest, GROUP, VERSION),
        validate=_VALID,
        conversions={"v1beta1": (same, same)},
        served_types={"v1beta1": ProvisioningRequest},
        custom=True,
        strategic=False,
    )
)
SCHEME.register(
    Kind(
        QUEUES,
        QUEUES_VERSION,
        "ProvisioningRequestConfig",
        "provisioningrequestconfigs",
        ProvisioningRequestConfig,
        namespaced=False,
        categories=("kueue",),
        columns=(AGE,),
        default=by_schema(ProvisioningRequestConfig, QUEUES, QUEUES_VERSION),
        validate=_VALID,
        conversions={"v1beta1": (same, same)},
        served_types={"v1beta1": ProvisioningRequestConfig},
        custom=True,
        strategic=False,
    )
)
SCHEME.register(
    Kind(
        "",
        "v1",
        "PodTemplate",
        "podtemplates",
        StoredPodTemplate,
        columns=(AGE,),
        schema="io.k8s.api.core.v1.PodTemplate",
        validate=_VALID,
    )
)
