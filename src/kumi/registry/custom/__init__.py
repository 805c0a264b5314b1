"""Kinds that other people define: CustomResourceDefinitions, and what the API makes of them.

definition -> rules     definition.py   what a definition may say; structural.py   what its schema may say
           -> names     names.py        accepted or in conflict, established
           -> schema    schema.py       compiled once: one node a place
                          pruning.py defaulting.py values.py formats.py     what goes in, as the schema has it
                          cel/                                              rules that objects must keep
                          ratcheting.py                                     what an update may leave wrong
           -> kind      kind.py         a Kind like any other, that the rest of the house serves
catalogue.py            which kinds are there now: grows and shrinks with the definitions in the store
"""
