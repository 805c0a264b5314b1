"""Floor 3: API objects and the engine's values, both ways. Pure.

into.Deltas().put(object)                    an API object as a delta of the state: one file a kind
out.step(token, decision, object, now)       a decision as writes and events: one file a decision
messages                                     reasons as the sentences that users read; `why`
conditions                                   conditions as they are written
scheduler_names                              which names of schedulers mean Kumi
topology                                     nodes as a topology assignment, and back
"""
