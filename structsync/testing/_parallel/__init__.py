"""One search in several processes: the same result for any number of them, whatever their timing.

program.py      a test on its way into another process, by the name under which that imports it
processes.py    the other processes: started, given jobs, ended, whatever happens
worker.py       what such a process does
subtree.py      depth first below a prefix, and what is left of that for others
frontier.py     what is left of a search, in as many lanes as there are at any number of processes
plain.py        every schedule
search.py       which searches are shared, and how

No process decides anything by when it is ready. The work is cut into lanes, a fixed number of them; in
a round each lane gets as many executions, and sees only what was known when the round began; then what
the lanes have found is put together in their order, and what is left is shared anew.
"""
