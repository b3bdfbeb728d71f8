"""Many inferences in flight at once."""
import asyncio
import collections
import weakref

from ._core import Completions
from ._errors import InvalidArgumentError


def _stop_watching(loop, fd):
    if not loop.is_closed():
        loop.remove_reader(fd)


class AsyncPool:
    """Requests of one model that run at once. A caller waits while all are busy, so that no more than `size` frames are held.

    Without asyncio, in order:            for outputs in pool.map(frames): ...
    With asyncio, in order:               async for outputs in pool.stream(frames): ...   frames may be an async iterable
    With asyncio, one of many callers:    outputs = await pool.infer(frame)

    What stands for a frame is what Request.infer() takes, with all inputs. A pool is for one thread; close it, or use `with`.
    """

    def __init__(self, compiled, size=None, *, allow_copies=True):
        """size: requests, None for as many as keep the device busy."""
        count = compiled.optimal_number_of_requests if size is None else size
        if count < 1:
            raise InvalidArgumentError(f"a pool has at least one request, not {count}")
        self._completions = Completions()
        self._requests = [compiled.create_request(allow_copies=allow_copies) for _ in range(count)]
        self._free = collections.deque(range(count))
        self._futures = {}
        self._waiters = collections.deque()
        self._loop = None
        self._unwatch = None
        for number, request in enumerate(self._requests):
            self._completions.watch(request, number)

    @property
    def size(self):
        """How many inferences may be in flight."""
        return len(self._requests)

    @property
    def copies(self):
        """How many inputs were copied so far: Request.copies of all."""
        return sum(request.copies for request in self._requests)

    def map(self, frames):
        """Yields the outputs of each frame, in order; at most `size` frames are in flight."""
        self._check_open()
        if self._loop is not None and self._futures:
            raise InvalidArgumentError("the pool has inferences that asyncio waits for: map() needs another pool")
        flying = collections.deque()
        try:
            for frame in frames:
                if not self._free and flying:
                    outputs = self._finish(flying.popleft())
                    self._completions.take()  # else the ends of a camera's frames would pile up
                    yield outputs
                if not self._free:
                    raise InvalidArgumentError("all requests of the pool are in use elsewhere: make another pool")
                self._requests[self._free[0]]._submit_all(frame)
                flying.append(self._free.popleft())
            while flying:
                yield self._finish(flying.popleft())
        finally:
            for number in flying:
                self._drain(number)
            self._completions.take()

    async def infer(self, frame):
        """The outputs of one frame. Waits while all requests are busy."""
        future = await self._start(frame)
        return await asyncio.shield(future)

    async def stream(self, frames):
        """Yields the outputs of each frame, in order; at most `size` frames are in flight."""
        flying = collections.deque()
        try:
            async for frame in _as_async(frames):
                if len(flying) == self.size:
                    yield await flying.popleft()
                flying.append(await self._start(frame))
            while flying:
                yield await flying.popleft()
        finally:
            # Left early: their results are nobody's, and neither are their errors.
            for future in flying:
                future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def close(self):
        """Waits for what is in flight and frees the requests."""
        if self._unwatch is not None:
            self._unwatch()
            self._unwatch = None
        for future in self._futures.values():
            if not future.done() and not future.get_loop().is_closed():
                future.cancel()
        for waiter in self._waiters:
            if not waiter.done() and not waiter.get_loop().is_closed():
                waiter.cancel()
        self._futures.clear()
        self._waiters.clear()
        self._requests = []
        self._free.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _check_open(self):
        if not self._requests:
            raise InvalidArgumentError("the pool is closed")

    def _drain(self, number):
        """Waits for a frame that nobody wants any more."""
        try:
            self._requests[number].wait()
        except Exception:  # noqa: BLE001 - nobody is left to tell
            pass
        self._free.append(number)

    def _finish(self, number):
        """Waits for a request, frees it, and gives its outputs."""
        request = self._requests[number]
        try:
            request.wait()
            return request.outputs()
        finally:
            self._free.append(number)

    def _watch(self):
        """Lets the running loop call _collect() when an inference ends."""
        loop = asyncio.get_running_loop()
        if loop is self._loop and self._unwatch is not None:
            return
        if self._futures:
            if self._loop is not None and not self._loop.is_closed():
                raise InvalidArgumentError("the pool is used in another event loop: make one for each")
            for number in list(self._futures):  # their loop ended without them
                self._drain(number)
            self._futures.clear()
            self._completions.take()
        self._waiters.clear()
        if self._unwatch is not None:
            self._unwatch()
        fd = self._completions.fileno()
        pool = weakref.ref(self)
        loop.add_reader(fd, lambda: pool() and pool()._collect())
        self._unwatch = weakref.finalize(self, _stop_watching, loop, fd)
        self._loop = loop

    async def _start(self, frame):
        self._check_open()
        self._watch()
        while not self._free:
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()  # the request that it was woken for is another's now
                raise
            self._check_open()
        number = self._free.popleft()
        try:
            self._requests[number]._submit_all(frame)
        except BaseException:
            self._free.append(number)
            self._wake()
            raise
        future = self._loop.create_future()
        self._futures[number] = future
        return future

    def _collect(self):
        for number in self._completions.take():
            future = self._futures.pop(number, None)
            if future is None:
                continue
            try:
                outputs = self._finish(number)
            except Exception as error:  # noqa: BLE001 - told to whoever waits
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(outputs)
            self._wake()

    def _wake(self):
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


async def _as_async(frames):
    if hasattr(frames, "__aiter__"):
        async for frame in frames:
            yield frame
    else:
        for frame in frames:
            yield frame
