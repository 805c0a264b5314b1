from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import MultiDict

from kumi.api.errors import ApiError
from kumi.apiserver.routes.options import (
    boolean,
    connect_options,
    connect_query,
    delete_options,
    include_object,
    list_options,
    number,
    write_options,
)
from kumi.registry.refusals import APPLY, MERGE_PATCH


def refusal(call: object, *arguments: object) -> ApiError:
    with pytest.raises(ApiError) as refused:
        call(*arguments)  # type: ignore[operator]
    return refused.value


@given(st.dictionaries(st.sampled_from(["limit", "dryRun", "force", "fieldManager", "gracePeriodSeconds"]), st.text()))
def test_any_query_is_options_or_a_refusal(query: dict[str, str]) -> None:
    for read in (list_options, lambda q: write_options(q, "Create", "kubectl/v1"), lambda q: delete_options(q, {})):
        with suppress(ApiError):
            read(query)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", True), ("true", True), ("", True), ("yes", True), ("0", False), ("false", False), ("False", False)],
)
def test_a_flag_is_off_only_when_it_says_so(text: str, value: bool) -> None:
    assert boolean({"watch": text}, "watch") is value


def test_a_flag_that_is_not_there_is_off() -> None:
    assert not boolean({}, "watch")


@pytest.mark.parametrize("text", ["x", "1.5", "9" * 19, "1" * 5000])
def test_what_is_no_number_is_refused(text: str) -> None:
    assert refusal(number, {"limit": text}, "limit").code == 400


def test_the_options_of_a_list_are_the_query() -> None:
    options = list_options({"labelSelector": "a=b", "limit": "5", "continue": "t", "allowWatchBookmarks": "1"})
    assert (options.labels, options.limit, options.token, options.bookmarks) == ("a=b", 5, "t", True)


def test_a_name_narrows_the_field_selector() -> None:
    assert list_options({"fieldSelector": "status.phase=Running"}, "p").fields == "status.phase=Running,metadata.name=p"
    assert list_options({}, "p").fields == "metadata.name=p"


def test_the_manager_of_a_write_is_the_client_unless_it_says_another() -> None:
    assert write_options({}, "Create", "kubectl/v1.33.1 (linux)").field_manager == "kubectl"
    assert write_options({"fieldManager": "me"}, "Create", "kubectl/v1.33.1").field_manager == "me"


def test_fields_are_warned_about_unless_the_writer_says_otherwise() -> None:
    assert write_options({}, "Create", "").field_validation == "Warn"
    assert write_options({"fieldValidation": "Strict"}, "Create", "").field_validation == "Strict"


def test_a_dry_run_is_all_or_nothing() -> None:
    assert write_options({"dryRun": "All"}, "Create", "").dry_run
    assert not write_options({}, "Create", "").dry_run


def wrong_fields(error: ApiError) -> list[str]:
    assert (error.code, error.kind[-7:], error.group) == (422, "Options", "meta.k8s.io")
    return [cause.path for cause in error.causes]


def test_every_wrong_option_is_named() -> None:
    query = {"dryRun": "Some", "fieldValidation": "Maybe", "force": "true", "fieldManager": "x" * 129}
    error = refusal(write_options, query, "Patch", "", MERGE_PATCH)
    assert wrong_fields(error) == ["dryRun", "fieldValidation", "fieldManager", "force"]


def test_an_apply_needs_a_manager_and_may_force() -> None:
    assert wrong_fields(refusal(write_options, {}, "Patch", "kubectl/1", APPLY)) == ["fieldManager"]
    assert write_options({"fieldManager": "m", "force": "true"}, "Patch", "", APPLY).force


def test_the_body_of_a_delete_says_more_than_its_query() -> None:
    body = {"gracePeriodSeconds": 5, "preconditions": {"uid": "u", "resourceVersion": "3"}, "dryRun": ["All"]}
    options = delete_options({"gracePeriodSeconds": "7", "propagationPolicy": "Foreground"}, body)
    assert (options.grace_seconds, options.uid, options.revision, options.dry_run) == (5, "u", "3", True)
    assert options.propagation == "Foreground"


@pytest.mark.parametrize(("orphan", "propagation"), [(True, "Orphan"), (False, "Background")])
def test_the_old_word_for_propagation_is_understood(orphan: bool, propagation: str) -> None:
    assert delete_options({}, {"orphanDependents": orphan}).propagation == propagation
    assert delete_options({"orphanDependents": str(orphan).lower()}, {}).propagation == propagation


def test_both_words_for_propagation_are_one_too_many() -> None:
    error = refusal(delete_options, {}, {"orphanDependents": True, "propagationPolicy": "Orphan"})
    assert wrong_fields(error) == ["propagationPolicy"]


@pytest.mark.parametrize("body", [{"gracePeriodSeconds": "5"}, {"gracePeriodSeconds": True}, {"preconditions": 3}])
def test_delete_options_of_a_wrong_type_are_refused(body: dict[str, object]) -> None:
    assert refusal(delete_options, {}, body).code == 400


def test_rows_carry_metadata_unless_something_else_is_asked_for() -> None:
    assert include_object({}) == "Metadata"
    assert include_object({"includeObject": "Object"}) == "Object"
    assert refusal(include_object, {"includeObject": "Some"}).code == 400


@pytest.mark.parametrize(
    ("subresource", "query", "asked"),
    [
        ("exec", "command=sh&command=-c&stdin=true&tty=false", {"command": ["sh", "-c"], "stdin": True}),
        ("attach", "container=c&stdout=1", {"container": "c", "stdout": True}),
        ("portforward", "ports=80,81&ports=82&ports=x", {"ports": [80, 81, 82]}),
        ("portforward", "", {}),
    ],
)
def test_a_connection_is_told_to_webhooks_as_what_was_asked_for(
    subresource: str, query: str, asked: dict[str, object]
) -> None:
    pairs = [tuple(part.split("=", 1)) for part in query.split("&") if part]
    assert connect_options(subresource, MultiDict(pairs)) == asked
    assert connect_options(subresource, connect_query(asked)) == asked


def test_a_webhook_may_take_away_what_was_asked_for() -> None:
    query = connect_query({"command": ["sh"], "stdin": False, "tty": None, "stdout": True})
    assert connect_options("exec", query) == {"command": ["sh"], "stdout": True}
