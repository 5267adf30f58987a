from cache import Cache
from clients import two_clients

from structsync.testing import explore


@explore()
async def test_a_client_that_leaves_does_not_stop_the_other() -> None:
    await two_clients(Cache)
