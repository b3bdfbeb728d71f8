#!/usr/bin/env python3
"""What goes in and out of a request: arrays without copies, and exceptions for those that cannot be taken."""
import gc
import mmap
import os
import random
import unittest

import numpy as np
import tiny

import npucore

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


def on_a_page(shape, dtype):
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(mmap.mmap(-1, count), dtype, int(np.prod(shape))).reshape(shape)


def off_a_page(values):
    """A copy whose memory does not begin on a page."""
    whole = np.empty(values.nbytes + 64, np.uint8)
    begin = 16 if whole.ctypes.data % 4096 == 0 else 0
    view = whole[begin:begin + values.nbytes].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view


class Inputs(unittest.TestCase):
    def setUp(self):
        self.request = tiny.square().create_request()
        self.x = np.arange(8, dtype=np.float32).reshape(1, 8)

    def square_of(self, inputs):
        return self.request.infer(inputs)["y"].ravel().tolist()

    def test_a_dict_a_list_an_array_and_a_number_name_the_only_input(self):
        wanted = (self.x ** 2).ravel().tolist()
        for inputs in ({"x": self.x}, {0: self.x}, [self.x], (self.x,), self.x, self.x.ravel()):
            self.assertEqual(self.square_of(inputs), wanted)

    def test_without_inputs_the_last_ones_stay(self):
        self.request.input("x")[...] = 3
        self.assertEqual(self.request.infer()["y"].ravel().tolist(), [9] * 8)
        self.request.input(0)[...] = 4
        self.assertEqual(self.square_of({}), [16] * 8)
        self.assertEqual(self.request.copies, 0)

    def test_none_is_no_input(self):
        """A picture that could not be read does not get the answer to the last one."""
        self.square_of(self.x)
        for call in (self.request.infer, self.request.submit):
            with self.assertRaisesRegex(npucore.InvalidArgumentError, "inputs are None"):
                call(None)

    def test_memory_off_a_page_is_copied_and_counted(self):
        x = off_a_page(self.x)
        for inference in range(1, 4):
            self.square_of(x)
            self.assertEqual(self.request.copies, inference)

    def test_memory_on_a_page_and_memory_of_npucore_are_not_copied(self):
        page = on_a_page((1, 8), np.float32)
        page[...] = 5
        self.assertEqual(self.square_of(page), [25] * 8)
        whole = npucore.Tensor.allocate((4, 1, 8), "float32")
        rows = whole.numpy()
        rows[...] = np.arange(4).reshape(4, 1, 1)
        for row in range(4):
            self.assertEqual(self.square_of(rows[row]), [row * row] * 8)
        self.assertEqual(self.request.copies, 0)

    def test_a_forbidden_copy_tells_why(self):
        self.request.allow_copies = False
        with self.assertRaisesRegex(npucore.UnsupportedError, r'input "x" would be copied.* behind a page.*request\.input'):
            self.request.infer(off_a_page(self.x))
        with self.assertRaisesRegex(npucore.UnsupportedError, "strides"):
            self.request.infer(np.zeros((1, 16), np.float32)[:, ::2])
        self.request.infer(on_a_page((1, 8), np.float32))
        self.assertEqual(self.request.copies, 0)

    def test_strides_of_any_kind_are_copied_right(self):
        for element in ("u8", "f16", "f32", "i64"):
            request = tiny.compiled(element=element, shape=(2, 3, 4, 5)).create_request()
            dtype = npucore._core.dtype_name(element)
            values = np.arange(120).astype(dtype)
            views = [values.reshape(2, 4, 5, 3).transpose(0, 3, 1, 2), values.reshape(2, 3, 4, 5)[:, ::-1, :, ::-1],
                     np.asfortranarray(values.reshape(2, 3, 4, 5)), np.broadcast_to(values[:5], (2, 3, 4, 5)),
                     np.zeros((2, 3, 8, 10), dtype)[:, :, ::2, ::2]]
            for view in views:
                np.testing.assert_array_equal(request.infer(view)["y"], view + view)

    def test_read_only_arrays_are_inputs_but_no_outputs(self):
        self.x.flags.writeable = False
        self.assertEqual(self.square_of(self.x)[7], 49)
        self.assertEqual(self.square_of(self.x.tobytes() and memoryview(self.x))[7], 49)
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "read-only"):
            self.request.set_output("y", self.x)

    def test_what_cannot_be_taken_raises(self):
        wrong = {
            "float64": self.x.astype(np.float64), "int32": self.x.astype(np.int32), r"\[1,9\]": np.zeros((1, 9), np.float32),
            r"\[8,1,2\]": np.zeros((8, 1, 2), np.float32), r"\[\]": np.float32(3), "not list": {"x": [1, 2]}, "not str": "text",
            "not object": object(), "not NoneType": {"x": None}, "complex": self.x.astype(np.complex64),
        }
        for message, array in wrong.items():
            with self.subTest(message), self.assertRaises((npucore.InvalidArgumentError, TypeError)):
                self.request.infer(array)
        with self.assertRaisesRegex(npucore.InvalidArgumentError, r"astype\('float32'\)"):
            self.request.infer(self.x.astype(np.float64))
        with self.assertRaisesRegex(npucore.NotFoundError, "the model has x"):
            self.request.infer({"z": self.x})
        with self.assertRaisesRegex(npucore.NotFoundError, "there is no input 1"):
            self.request.infer({1: self.x})
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "1 inputs, not 2"):
            self.request.infer([self.x, self.x])
        self.assertEqual(self.square_of(self.x)[7], 49)

    def test_two_inputs_need_names(self):
        request = tiny.compiled(inputs=("a", "b")).create_request()
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "dict of names"):
            request.infer(self.x)
        self.assertEqual(request.infer({"a": self.x, "b": self.x * 3})["y"][0, 7], 28)
        self.assertEqual(request.infer([self.x, self.x])["y"][0, 7], 14)

    def test_random_arguments_raise_or_work(self):
        """Whatever comes, it is a result or an exception."""
        generator = random.Random(7)
        dtypes = ["f4", "f8", "f2", "i4", "u1", "?", "c8", "S4", "O", "M8[s]", ">f4"]
        for _ in range(2000):
            shape = [generator.choice([0, 1, 2, 8, 9]) for _ in range(generator.randrange(5))]
            array = np.zeros(shape, generator.choice(dtypes))
            if array.ndim and generator.random() < .3:
                array = array[::generator.choice([-1, 2])]
            if generator.random() < .2:
                array.flags.writeable = False
            for use in (self.request.infer, lambda value: self.request.set_input(generator.choice(["x", 0, 5, None]), value),
                        lambda value: self.request.set_output("y", value)):
                try:
                    use(array)
                except (npucore.Error, TypeError, ValueError, OverflowError, BufferError):
                    pass
        self.request.set_output("y", None)
        self.assertEqual(self.square_of(self.x)[7], 49)


class Outputs(unittest.TestCase):
    def test_later_inferences_do_not_change_a_result(self):
        request = tiny.square().create_request()
        kept = [request.infer(np.full((1, 8), value, np.float32))["y"] for value in range(40)]
        self.assertEqual([array[0, 3] for array in kept], [value * value for value in range(40)])

    def test_dropped_results_give_their_memory_to_the_next(self):
        request = tiny.square().create_request()
        places = set()
        for value in range(50):
            places.add(request.infer(np.full((1, 8), value, np.float32))["y"].ctypes.data)
        self.assertLessEqual(len(places), 2)

    def test_a_view_keeps_its_memory(self):
        request = tiny.square().create_request()
        view = request.infer(np.full((1, 8), 3, np.float32))["y"][0, 2:4]
        for _ in range(5):
            request.infer(np.full((1, 8), 1, np.float32))
        self.assertEqual(view.tolist(), [9, 9])

    def test_results_outlive_request_model_and_device(self):
        device = npucore.Device()
        compiled = npucore.compile(tiny.EXAMPLES / "square.xml", device)
        request = compiled.create_request()
        result = request.infer(np.full((1, 8), 6, np.float32))["y"]
        own = request.input("x")
        objects = [device, compiled, request]
        del device, compiled, request
        while objects:
            objects.pop(random.randrange(len(objects)))
            gc.collect()
        self.assertEqual(result.tolist(), [[36] * 8])
        own[...] = 2
        self.assertEqual(own.sum(), 16)

    def test_the_callers_array_is_written(self):
        request = tiny.square().create_request()
        for array in (on_a_page((1, 8), np.float32), off_a_page(np.zeros((1, 8), np.float32)),
                      npucore.Tensor.allocate((1, 8), "f32", use="output").numpy()):
            request.set_output("y", array)
            self.assertIs(request.infer(np.full((1, 8), 5, np.float32))["y"], array)
            self.assertEqual(array.tolist(), [[25] * 8])
        request.set_output("y", None)
        self.assertIsNot(request.infer()["y"], array)
        for wrong in (np.zeros((1, 8)), np.zeros((1, 9), np.float32), np.zeros((1, 16), np.float32)[:, ::2]):
            with self.assertRaises(npucore.InvalidArgumentError):
                request.set_output("y", wrong)

    def test_a_batch_is_in_front(self):
        request = tiny.square().create_request(batch=3)
        y = request.infer(np.arange(24, dtype=np.float32).reshape(3, 8))["y"]
        self.assertEqual(y.shape, (3, 8))
        self.assertEqual(y[2, 7], 23 * 23)


class Elements(unittest.TestCase):
    def test_each_type_has_its_dtype(self):
        for element, dtype in {"f32": "float32", "f16": "float16", "u8": "uint8", "i32": "int32", "i64": "int64"}.items():
            compiled = tiny.compiled(element=element)
            self.assertEqual((compiled.inputs[0].dtype, compiled.inputs[0].element_type), (dtype, element))
            y = compiled.create_request().infer(np.full((1, 8), 3, dtype))["y"]
            self.assertEqual((str(y.dtype), y.tolist()), (dtype, [[6] * 8]))

    def test_bfloat16_as_bits(self):
        request = tiny.compiled(element="bf16").create_request()
        ones = np.full((1, 8), 0x3F80, np.uint16)  # 1.0
        y = request.infer(ones)["y"]
        self.assertEqual(y.view(np.uint16).tolist(), [[0x4000] * 8])

    @unittest.skipUnless(ml_dtypes, "ml_dtypes is not installed")
    def test_bfloat16_of_ml_dtypes(self):
        request = tiny.compiled(element="bf16").create_request()
        y = request.infer(np.full((1, 8), 1.5, ml_dtypes.bfloat16))["y"]
        self.assertEqual((y.dtype, y.astype(float).tolist()), (ml_dtypes.bfloat16, [[3.0] * 8]))

    def test_bfloat16_through_dlpack(self):
        tensor = npucore.Tensor.allocate((1, 8), "bfloat16")
        tensor.numpy().view(np.uint16)[...] = 0x4040  # 3.0
        other = npucore._core.dtype_name("bf16")
        self.assertEqual((other, tensor.dtype), ("bfloat16", "bfloat16"))
        request = tiny.compiled(element="bf16").create_request(allow_copies=False)
        self.assertEqual(request.infer(Exporter(tensor))["y"].view(np.uint16).tolist(), [[0x40C0] * 8])


class Exporter:
    """What only DLPack knows: an array of another library."""

    def __init__(self, source):
        self.source = source

    def __dlpack__(self, **options):
        return self.source.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.source.__dlpack_device__()


class Tensors(unittest.TestCase):
    def test_numpy_and_dlpack_show_the_same_memory(self):
        tensor = npucore.Tensor.allocate((2, 4), np.float16)
        arrays = [tensor.numpy(), np.asarray(tensor), np.from_dlpack(tensor), np.from_dlpack(Exporter(tensor))]
        arrays[0][...] = 2
        for array in arrays:
            self.assertEqual((array.shape, array.dtype, array.sum()), ((2, 4), np.float16, 16))
            self.assertEqual(array.ctypes.data, arrays[0].ctypes.data)
        del tensor
        gc.collect()
        self.assertEqual(arrays[2].sum(), 16)
        self.assertEqual(np.asarray(npucore.Tensor.allocate((2,), "i32"), dtype=np.float64).dtype, np.float64)

    def test_a_tensor_is_an_input(self):
        tensor = npucore.Tensor.allocate((1, 8), "float32")
        tensor.numpy()[...] = 7
        request = tiny.square().create_request(allow_copies=False)
        self.assertEqual(request.infer({"x": tensor})["y"][0, 0], 49)
        small = npucore.Tensor.allocate((1, 4), "float32")
        with self.assertRaisesRegex(npucore.InvalidArgumentError, "32"):
            request.infer({"x": small})

    def test_impossible_tensors_raise(self):
        for shape in ((-1, 2), (0,), (2**40, 2**40), "abc", (1.5,), None):
            with self.subTest(shape), self.assertRaises((npucore.Error, TypeError, ValueError, RuntimeError)):
                npucore.Tensor.allocate(shape, "float32")
        for dtype in ("complex64", "nonsense", 3):
            with self.subTest(dtype), self.assertRaisesRegex(npucore.InvalidArgumentError, "float32"):
                npucore.Tensor.allocate((1,), dtype)
        with self.assertRaises(npucore.OutOfMemoryError):
            npucore.Tensor.allocate((2**60,), "uint8")

    def test_a_shared_buffer(self):
        fd = os.memfd_create("buffer")
        try:
            os.ftruncate(fd, 8192)
            os.pwrite(fd, np.full(8, 3, np.float32).tobytes(), 4096)
            tensor = npucore.Tensor.from_dmabuf(fd, (1, 8), "float32", offset=4096)
        finally:
            os.close(fd)
        self.assertTrue(tensor.is_imported)
        with tensor.cpu_access(write=True) as array:
            array[0, 0] = 5
        y = tiny.square().create_request(allow_copies=False).infer({"x": tensor})["y"]
        self.assertEqual(y.tolist(), [[25] + [9] * 7])
        for fd, offset in ((0, 0), (-1, 0), (10**6, 0)):
            with self.assertRaises(npucore.InvalidArgumentError):
                npucore.Tensor.from_dmabuf(fd, (1, 8), "float32", offset=offset)

    def test_a_file(self):
        import tempfile
        with tempfile.NamedTemporaryFile() as file:
            file.write(np.arange(8, dtype=np.float32).tobytes())
            file.flush()
            tensor = npucore.Tensor.from_file(file.name, (1, 8), "float32")
            self.assertTrue(tensor.is_read_only)
            self.assertFalse(tensor.numpy().flags.writeable)
            self.assertEqual(tiny.square().create_request().infer({"x": tensor})["y"][0, 7], 49)
            with self.assertRaises(npucore.Error):
                npucore.Tensor.from_file(file.name, (9999,), "float32")


if __name__ == "__main__":
    tiny.main()
