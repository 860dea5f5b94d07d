"""The memory for asyncio: the same calls, each in a thread of its own pool."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
from typing import Any, AsyncIterator, BinaryIO, Callable, TypeVar

from ._http import Event
from ._memory import Episode, Memory
from ._operations import AdviseResponse, AsyncOperations, Briefing, EndSessionResponse, LearnResponse, Object, RecallResponse, SavePerceptionResponse
from ._recorder import Recorder

T = TypeVar("T")


class AsyncMemory(AsyncOperations):
    """A Memory for asyncio. Its calls run in threads, so that a slow one holds up no other task. The
    property memory is the Memory that does the work; use it for what has no method here.

        async with AsyncMemory("arm7.db") as m:
            await m.learn("the drawer opens to the left")
            found = await m.recall("drawer")

    A task that is cancelled no longer waits; its write may be done all the same.
    """

    _opened: Memory | None = None

    def __init__(self, where: str | os.PathLike[str] | None = None, **settings: Any):
        """The arguments are those of Memory. The node is started by `async with` or by open."""
        self._make = functools.partial(Memory, where, **settings)
        self._threads = concurrent.futures.ThreadPoolExecutor(32, "robotmem-async")

    @property
    def memory(self) -> Memory:
        if self._opened is None:
            raise RuntimeError("the memory is not open; use it in an `async with` statement, or await open()")
        return self._opened

    async def open(self) -> AsyncMemory:
        self._opened = await self.run(self._make)
        return self

    async def close(self) -> None:
        await self.run(self.memory.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> AsyncMemory:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Run a blocking call, such as m.memory.load, in a thread: await m.run(m.memory.load, 7)."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, functools.partial(call, *args, **kwargs))

    async def save(self, data: Any, description: str, **fields: Any) -> SavePerceptionResponse:
        """Save a perception; see Memory.save."""
        return await self.run(self.memory.save, data, description, **fields)

    async def load(self, memory_id: int | str) -> Any:
        """The payload of a perception; see Memory.load."""
        return await self.run(self.memory.load, memory_id)

    def episode(self, **fields: Any) -> AsyncEpisode:
        """Begin and end an episode with an async with statement; see Memory.episode."""
        return AsyncEpisode(self, self.memory.episode(**fields))

    async def events(self, timeout: float = 60.0) -> AsyncIterator[Event]:
        """Iterate over what happens at the node; see Memory.events."""
        stream = self.memory.events(timeout)
        end = object()  # StopIteration cannot cross a future, so next returns this at the end
        while (event := await self.run(next, stream, end)) is not end:
            assert isinstance(event, Event)
            yield event

    async def _call(self, op: str, fields: Object) -> Any:
        return await self.run(self.memory._call, op, fields)

    async def _upload(self, op: str, payload: BinaryIO, fields: Object) -> Any:
        return await self.run(self.memory._upload, op, payload, fields)


class AsyncEpisode:
    """An Episode for asyncio. The attribute episode is the Episode that does the work."""

    def __init__(self, memory: AsyncMemory, episode: Episode):
        self._memory, self.episode = memory, episode

    @property
    def id(self) -> str:
        return self.episode.id

    @property
    def briefing(self) -> Briefing:
        return self.episode.briefing

    @property
    def used(self) -> list[Any]:
        return self.episode.used

    @property
    def ended(self) -> EndSessionResponse | None:
        return self.episode.ended

    @property
    def outcome(self) -> float | None:
        return self.episode.outcome

    @outcome.setter
    def outcome(self, value: float | None) -> None:
        self.episode.outcome = value

    def recorder(self, source: str, rate: float = 0.0, **fields: Any) -> Recorder:
        """Record the samples of a sensor into this episode; push never waits. See Recorder."""
        return self.episode.recorder(source, rate, **fields)

    async def __aenter__(self) -> AsyncEpisode:
        await self._memory.run(self.episode.__enter__)
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._memory.run(self.episode.__exit__, *raised)

    async def learn(self, insight: str, **fields: Any) -> LearnResponse:
        return await self._memory.run(self.episode.learn, insight, **fields)

    async def recall(self, query: str | None = None, **fields: Any) -> RecallResponse:
        return await self._memory.run(self.episode.recall, query, **fields)

    async def advise(self, query: str | None = None, **fields: Any) -> AdviseResponse:
        return await self._memory.run(self.episode.advise, query, **fields)

    async def save(self, data: Any, description: str, **fields: Any) -> SavePerceptionResponse:
        return await self._memory.run(self.episode.save, data, description, **fields)
