"""Line: who may pass whom of those that wait for nodes: pods on their own, and gangs, by one rule each.

    open            whoever doesn't fit is passed (../alone.py, ../actions/allocate.py)
    strict.py       nobody passes the first that doesn't fit
    easy.py         the first that doesn't fit gets a reservation; later ones start that don't delay it
    conservative.py everybody gets a reservation; those start that delay nobody

asking.py has what a rule sees of who waits, timeline.py what of the nodes is used when (changes.py: what changes;
outlook.py: of all nodes at once; lent.py: single devices that pods share); singles.py and ../actions/lined.py are
those that wait: pods on their own, gangs. words.py: what the policy's words mean for gangs.
"""
