"""Who may do what: role-based access control, decided purely over an index of the rules that are in force.

    rules.py        one rule: does it allow this, does it cover that rule
    policies.py     the index: roles and bindings by whom they speak of
    decisions.py    a user and what is asked -> allowed or not, and why; all rules of a user
    escalation.py   who may write which roles and bindings
    live.py         the index of a store, as of its newest acknowledged write
    defaults.py     the roles and bindings that a cluster has from the start; kueue.py those of its queues

The rule   whatever no rule allows is refused; rules only ever allow. The group `system:masters` may do everything.
"""
