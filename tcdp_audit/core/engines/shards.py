"""What can be done with the shards of a table, wherever they are: in this process, or on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Self, TypeVar

from tcdp_audit.core.encoding.counted import CountedCodes

R = TypeVar("R")
Part = tuple[int, int]  # which of how many parts of a shard's classes, from 0
WHOLE: Part = (0, 1)
Measure = Callable[[Part], R]  # a shard made ready, asked for a part of it


class MappedShards(ABC):
    """A table as shards that hold their equivalence classes whole. Use it as a context manager.

    Args:
        count: how many shards there are; some may have no records.
        divisible: whether several threads may work on parts of one shard.
    """

    count: int
    divisible: bool = False

    @abstractmethod
    def map(self, prepare: Callable[[CountedCodes], Measure[R]], parts: int = 1) -> Iterator[R]:
        """What comes of every shard that has records, in any order.

        Args:
            prepare: makes a shard ready; it is called once for each shard, where the shard is. On a cluster it travels
                by cloudpickle, and so do the answers.
            parts: how many parts of each shard are asked for; 1 unless shards are `divisible`.

        Raises:
            BaseException: what `prepare` or its answer raises.
        """

    def each(self, figure: Callable[[CountedCodes], R]) -> Iterator[R]:
        """A figure of every shard that has records, in any order."""

        def prepare(shard: CountedCodes) -> Measure[R]:
            return lambda _: figure(shard)

        return self.map(prepare)

    def close(self) -> None:  # noqa: B027 - shards may hold nothing
        """Give back what the shards hold."""

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class ShardInMemory(MappedShards):
    """One shard that is there already.

    Args:
        shard: its rows.
    """

    count = 1

    def __init__(self, shard: CountedCodes) -> None:
        self.shard = shard

    def map(self, prepare: Callable[[CountedCodes], Measure[R]], parts: int = 1) -> Iterator[R]:
        """What comes of the shard, if it has records."""
        if self.shard.rows:
            measure = prepare(self.shard)
            yield from (measure((part, parts)) for part in range(parts))
