"""Floor 1: pure decisions. State, policy and `now` in, decisions with reasons out; no clock, no chance, no input or output.

    state = State(profile)                 engine.state      the compiled cluster, the only mutable thing
    state.apply(delta)                                       objects came, changed, went; in any order
    admission.cycle.decide(state, now_ms)  -> [Admit | Hold | Evict]      may it start, and where
    placement.session.decide(state, now_ms) -> [Bind | Unplaced]          on which node; after the cycle
    state.settle(decision, ok, revision)                     the write was acknowledged, or refused
    state.wake_at_ms()                                       decide again at this time, also if nothing comes in
    foresight.explain.explain(state, workload_key, now_ms) -> Record | None      why it waits, who is ahead
    policy.parse(policy) -> Profile                          what the policy file asks for
    invariants.check(state)                                  what must never happen; raises InvariantError

The state's parts, a file each: journal, catalog, queues, holdings, admission.quota, placement.nodes, reservations, pods.
Rule -> file is the page docs/rules.md, made from the docstrings.
"""
