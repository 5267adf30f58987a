"""Seeing a program: who holds what, who waits for whom, and whether that ever ends.

From the bottom to the top: ``places`` (what things are called), ``trace`` (since when), ``needs`` (what a
request waits for), ``wait_graph``; then ``deadlock``, ``snapshot`` and ``show``. Numbers: ``histogram``,
``metrics``, ``prometheus``; ``observe`` is what users import.
"""
