"""Nodes that run pods as processes of this machine: no container runtime, no image, no root needed. Linux only.

    node.py          a Node object, its heartbeat, its pods          machine.py     what the nodes of one machine share
    pod_plan.py      a pod's spec as what is to be run               pod_state.py   the life of a pod: a pure state machine
    pod_status.py    that life as v1 PodStatus                       worker.py      one pod: instructions become effects
    admission.py     does the pod fit on the node                    devices.py     which GPU for which container
    environment.py   variables and $(VAR)                            volumes.py     directories behind volumes
    addresses.py     an address for each pod                         ports.py       a free port for each job
    hosts.py         names that resolve inside pods                  wait.py        waits until a name resolves
    process.py       starts, finds and stops containers              zygote.py      forks them cheaply
    shim.py          the guardian of one container                   mounts.py      its private view of the file system
    records.py       what survives on disk                           logs.py        kubectl logs
    feed.py          list and watch as one stream                    pod_record.py  what the node decided for a pod
    pod_words.py     what a life hears and says                      probes.py      what a probe's answers mean
    handlers.py      what a probe or a hook does                     outfit.py      what a container is started with
    inside.py        a command in a running container                commands.py    kubectl exec, attach, port-forward
    console.py       a container's own streams, and who is attached  attaching.py   a client of them
    forwarding.py    a connection to what a pod listens on           gpus.py        the machine's real GPUs
    sandbox.py       what sandboxed pods see of the machine          sandbox_view.py  that as places
    bubblewrap.py    a sandbox, and the way into it
    last_words.py    the message of a container's end                pressure.py    whether the machine runs short
    meter.py         what containers use                             process_trees.py  read from /proc
    settings.py      what whoever starts nodes decides

A container is a process with its descendants under a shim. The shim outlives Kumi: what is on disk (records) and what
runs (verified by start time) is the truth after a crash, and the next start goes on from there.

Without a sandbox a pod can do what the user who runs Kumi can do; with one (sandbox.py) it has its own view of the file
system and of processes. What a spec says of isolation and limits (security contexts, memory and cpu limits) is stored and
not enforced.
"""
