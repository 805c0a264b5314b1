"""Floor 1: pure decisions. State, policy and `now` in, decisions with reasons out; no clock, no chance, no input or output.

    state = State(profile)                 engine.state      the compiled cluster, the only mutable thing
    state.apply(delta)                                       objects came, changed, went
    admission.cycle.decide(state, now_ms)  -> [Admit | Hold | Evict]      may it start, and where
    placement.session.decide(state, now_ms) -> [Bind | Unplaced]          on which node
    state.settle(decision, ok)                               the write was acknowledged, or refused
    foresight.explain.explain(state, workload_key, now_ms) -> Record      why it waits, who is ahead
    invariants.check(state)                                  what must never happen; raises InvariantError

Rule -> file is the page docs/rules.md, made from the docstrings.
"""
