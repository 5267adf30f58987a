"""Seeing a program: which task holds what, which waits for which, and whether that ever ends.

From the bottom to the top: ``places`` (what things are called), ``trace`` (since when), ``needs`` (what a
request waits for), ``wait_graph``; then ``deadlock``, ``snapshot`` and ``show``. From the events:
``holds`` and ``spans`` (from when to when), ``histogram`` and ``metrics`` (how often and how long), and for other
programs ``prometheus``, ``recording`` and ``logs``; ``observe`` is what users import.
"""
