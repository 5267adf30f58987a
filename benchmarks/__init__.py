"""What structsync costs, as ratios against trio and against the least that parking can cost.

Run all of it from the project's root with ``python -m benchmarks``; ``--help`` lists the options.
Machines differ and are busy, so hardly anything here is a time: subject and reference run in the same
process, in short alternating slices, on the clock of the thread's own CPU time.

_measure.py     alternating slices, rounds, medians     _report.py   the table and the JSON
_rows.py        the rows: name, target, cases           __main__.py  the command
_floor.py       what parking cost at least, frozen      _memory_child.py  runs alone, see memory.py
_copies.py      the package loaded twice, once without its hooks for observers
_recorded.py    ratios on record, and what is worse today   _instructions.py  counted by valgrind
_curves.py      costs over numbers, beside peers; shapes.py what is measured, _plots.py the pictures
_party_child.py a server and a synchronizer for mechanisms.py, which are processes

Each other module is one row, or a few alike.
"""
