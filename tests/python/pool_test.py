#!/usr/bin/env python3
"""Many inferences at once, with and without asyncio."""
import asyncio
import gc
import select
import threading
import unittest

import numpy as np
import tiny

import npucore


def frames(count):
    for value in range(count):
        yield np.full((1, 8), value, np.float32)


async def slow_frames(count):
    for frame in frames(count):
        await asyncio.sleep(0)
        yield frame


def values(results):
    return [float(outputs["y"][0, 0]) for outputs in results]


class Pool(unittest.TestCase):
    def setUp(self):
        self.compiled = tiny.square()
        self.squares = [float(value * value) for value in range(50)]

    def test_map_gives_results_in_order(self):
        with npucore.AsyncPool(self.compiled, 4) as pool:
            self.assertEqual(values(pool.map(frames(50))), self.squares)
            self.assertEqual(values(pool.map(frames(50))), self.squares)
        self.assertGreater(npucore.AsyncPool(self.compiled).size, 0)

    def test_map_takes_no_more_frames_than_requests(self):
        taken = []

        def watched():
            for frame in frames(20):
                taken.append(frame)
                yield frame
        with npucore.AsyncPool(self.compiled, 3) as pool:
            for done, _ in enumerate(pool.map(watched())):
                self.assertLessEqual(len(taken) - done, 3 + 1)

    def test_map_forgets_the_ends_of_what_it_has_given_out(self):
        with npucore.AsyncPool(self.compiled, 2) as pool:
            for done, _ in enumerate(pool.map(frames(200))):
                if done == 150:
                    self.assertLess(len(pool._completions.take()), 10)

    def test_a_frame_that_is_none_is_an_error(self):
        """Not the answer to another frame, which the request had last."""
        with npucore.AsyncPool(self.compiled, 2) as pool:
            self.assertEqual(values(pool.map(frames(3))), [0, 1, 4])
            for nothing in (None, {}):
                with self.assertRaisesRegex(npucore.InvalidArgumentError, "None|0 of the model's 1"):
                    list(pool.map([next(frames(1)), nothing]))

            async def one(frame):
                return await pool.infer(frame)
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "cv2.imread"):
                asyncio.run(one(None))
            self.assertEqual(values(pool.map(frames(3))), [0, 1, 4])

    def test_a_frame_has_all_inputs(self):
        compiled = tiny.compiled(inputs=("a", "b"))
        one = np.ones((1, 8), np.float32)
        with npucore.AsyncPool(compiled, 1) as pool:
            self.assertEqual(values(pool.map([{"a": one, "b": 3 * one}])), [4])
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "1 of the model's 2 inputs"):
                list(pool.map([{"a": one}]))

    def test_an_error_leaves_the_pool_usable(self):
        with npucore.AsyncPool(self.compiled, 2) as pool:
            with self.assertRaises(npucore.InvalidArgumentError):
                list(pool.map([*frames(3), np.zeros(3)]))
            for outputs in pool.map(frames(5)):
                break
            self.assertEqual(values(pool.map(frames(50))), self.squares)

    def test_stream_gives_results_in_order(self):
        async def run():
            with npucore.AsyncPool(self.compiled, 4) as pool:
                for source in (frames, slow_frames):
                    self.assertEqual(values([outputs async for outputs in pool.stream(source(50))]), self.squares)
        asyncio.run(run())

    def test_callers_wait_for_a_free_request(self):
        async def run():
            with npucore.AsyncPool(self.compiled, 2) as pool:
                results = await asyncio.gather(*(pool.infer(frame) for frame in frames(50)))
                self.assertEqual(values(results), self.squares)
                with self.assertRaises(npucore.InvalidArgumentError):
                    await pool.infer(np.zeros(3))
        asyncio.run(run())

    def test_cancelled_callers_leave_the_pool_usable(self):
        async def run():
            with npucore.AsyncPool(self.compiled, 2) as pool:
                tasks = [asyncio.create_task(pool.infer(frame)) for frame in frames(30)]
                await asyncio.sleep(0)
                for task in tasks[::2]:
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
                self.assertEqual(values(results[1::2]), self.squares[1:30:2])
                async for outputs in pool.stream(frames(20)):
                    break
                self.assertEqual(values(await asyncio.gather(*(pool.infer(frame) for frame in frames(10)))), self.squares[:10])
        asyncio.run(run())

    def test_one_pool_serves_loop_after_loop(self):
        pool = npucore.AsyncPool(self.compiled, 2)
        for _ in range(3):
            asyncio.run(pool.infer(next(frames(1))))
            self.assertEqual(values(pool.map(frames(5))), self.squares[:5])
        pool.close()
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "closed"):
            list(pool.map(frames(1)))

    def test_a_dropped_pool_leaves_the_loop(self):
        async def run():
            pool = npucore.AsyncPool(self.compiled, 2)
            await pool.infer(next(frames(1)))
            fd = pool._completions.fileno()
            del pool
            gc.collect()
            self.assertFalse(asyncio.get_running_loop().remove_reader(fd))
        asyncio.run(run())

    def test_eight_threads(self):
        failures = []

        def work(number):
            try:
                request = self.compiled.create_request()
                for value in range(200):
                    y = request.infer(np.full((1, 8), number + value, np.float32))["y"]
                    if y[0, 7] != (number + value) ** 2:
                        failures.append((number, value))
                with npucore.AsyncPool(self.compiled, 2) as pool:
                    if values(pool.map(frames(50))) != self.squares:
                        failures.append(number)
            except Exception as error:  # noqa: BLE001 - told below
                failures.append(error)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Ends(unittest.TestCase):
    def test_a_descriptor_tells_which_inferences_ended(self):
        compiled, completions = tiny.square(), npucore.Completions()
        self.assertEqual((completions.take(), select.select([completions], [], [], 0)[0]), ([], []))
        requests = {key: compiled.create_request() for key in (7, 2**64 - 1)}
        for key, request in requests.items():
            completions.watch(request, key)
        for _ in range(3):
            for request in requests.values():
                request.submit(np.full((1, 8), 3, np.float32))
            ended = set()
            while len(ended) < 2:
                self.assertEqual(select.select([completions], [], [], 100)[0], [completions])
                ended.update(completions.take())
            self.assertEqual(ended, set(requests))
            self.assertEqual([request.wait() and request.outputs()["y"][0, 0] for request in requests.values()], [9, 9])
        for key in (-1, 2**64, "7", None):
            with self.assertRaises(TypeError):
                completions.watch(request, key)

    def test_requests_and_completions_go_in_any_order(self):
        compiled = tiny.square()
        for requests_first in (True, False):
            completions, request = npucore.Completions(), compiled.create_request()
            completions.watch(request, 1)
            request.submit(np.full((1, 8), 3, np.float32))
            if requests_first:
                del request
                self.assertEqual(completions.take(), [1])
            else:
                with self.assertRaisesRegex(npucore.InvalidArgumentError, r"wait\(\) first"):
                    completions.watch(request, 2)
                del completions
                self.assertTrue(request.wait())


if __name__ == "__main__":
    tiny.main()
