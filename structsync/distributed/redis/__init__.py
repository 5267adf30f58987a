"""``redis://``, ``rediss://`` and ``unix://``: several machines, by a server of Redis 7 or Valkey."""
