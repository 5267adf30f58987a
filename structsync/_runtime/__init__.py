"""The trio shell: parking and waking, runs, ownership, events, and the public base of all primitives."""
