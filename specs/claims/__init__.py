"""What CrossHair proves about the core, for all numbers; the models in ``specs`` explore, for all runs.

A claim is a function: its name is the sentence, its parameters are arbitrary values, its first
asserts say which situations it speaks of, and the asserts after them what is true there. CrossHair
runs it with symbolic values along every path, so a confirmed claim holds for *every* int, not for
the few that a model tries. It drives the core that ships, through no copy.

Claims are inductive. A model starts at the beginning and takes many steps; a claim takes *any*
situation that satisfies the invariant, makes one transition, and shows the invariant again, together
with what the transition did. Put together, the claims about a core cover histories of any length.

How to write one that can be confirmed:

* bounds first (``len(claims) <= BOUND``), then what quantifies over the list, then the rest;
* one transition per claim; whole histories multiply the paths;
* numbers and short lists of numbers as parameters, and the core is built inside;
* claimants are ints as well: the core only compares them, so an int stands for any name.

What this cannot see: longer queues than the bound, and anything about trio. The first is what the
stateful tests are for, the second what the tests of the shells are for.

``tests/claims`` runs them. A claim counts only with the verdict *confirmed*: no counterexample, but
paths left over, is a failure. Each has a planted fault that it must refute, and each of its branches
must be reachable, because a claim about situations that never arise is confirmed as well.
"""
