"""What every loop needs: a clock, a client, a view that watches keep up to date, and those who run loops.

client -> informer -> cache (the View)      what the world looks like
polling, node_loads                         what can only be asked for, as if it were watched
reconcile -> workqueue -> manager           controllers: one key at a time
decider -> pump (doubts)                    deciders: everything against everything
writes, expectations, revisions             how a write ends, and when the view shows it
events, replay, leader                      telling people, telling developers, being the only one
"""
