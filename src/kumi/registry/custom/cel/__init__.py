"""Rules in CEL (x-kubernetes-validations): compiled with the definition, run on objects.

    patterns.py      regular expressions, as CEL has them (RE2)
    environment.py   the language: its own functions and those that Kubernetes adds
    quantities.py, addresses.py ...      those functions, by what they are about
    tree.py          an expression as a tree
    types.py         does it fit the schema?     cost.py   how dear can it get?
    data.py          JSON as CEL sees it
    rules.py         the rules of a schema: checked once, run on every write
Source     Kubernetes: validation rules; CEL in Kubernetes.
"""
