"""Delivers letters: workers, retries with timeouts, and a shutdown that loses nothing.

outbox.py     which letters wait, and for how many there is room
delivery.py   workers that deliver them
wire.py       letters over TCP
"""

from .delivery import Courier as Courier
from .delivery import Rules as Rules
from .delivery import open_courier as open_courier
from .outbox import Outbox as Outbox
