"""Rules and questions from few words, so that they often meet."""

from __future__ import annotations

from hypothesis import strategies as st

from kumi.registry.authorization.rules import Asked, Rule

VERBS, GROUPS, NAMES = ("get", "list", "create", "*"), ("", "apps", "*"), ("a", "b", "")
RESOURCES = ("pods", "pods/log", "*/log", "jobs", "jobs/scale", "*/scale", "*")
URLS = ("/api", "/api/*", "/api/v1", "/metrics", "*")


def some(words: tuple[str, ...], least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(words), min_size=least, max_size=2, unique=True).map(tuple)


resource_rules = st.builds(Rule, some(VERBS), some(GROUPS), some(RESOURCES), some(NAMES))
url_rules = st.builds(lambda verbs, urls: Rule(verbs, urls=urls), some(VERBS), some(URLS))
rules = resource_rules | url_rules
asked = st.builds(
    Asked,
    st.sampled_from(VERBS),
    st.sampled_from(GROUPS),
    st.sampled_from(RESOURCES),
    st.just("ns"),
    st.sampled_from(NAMES),
) | st.builds(lambda verb, path: Asked(verb, path=path), st.sampled_from(VERBS), st.sampled_from(URLS))
