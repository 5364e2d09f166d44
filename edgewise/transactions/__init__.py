"""Software transactional memory on CPU threads and GPUs, from one source."""

from edgewise.transactions.dry_run import visibility
from edgewise.transactions.interleavings import check_body, check_protocol
from edgewise.transactions.memory import TransactionalMemory, TransactionError
from edgewise.transactions.protocols import PROTOCOLS, Protocol
from edgewise.transactions.statistics import Statistics
from edgewise.transactions.transaction import is_active, read, retry, write

__all__ = [
    "PROTOCOLS",
    "Protocol",
    "Statistics",
    "TransactionError",
    "TransactionalMemory",
    "check_body",
    "check_protocol",
    "is_active",
    "read",
    "retry",
    "visibility",
    "write",
]
