"""As much of PyTorch as a tensor needs to cross, where that is missing. Laid beside an evaluator as `torch.py`."""

import time

import numpy

strided, float32, bfloat16 = "torch.strided", "torch.float32", "torch.bfloat16"


class Tensor:
    """Numbers, which know what they were made of until they are detached."""

    def __init__(self, numbers, of=None, dtype=float32):
        self._numbers, self._of, self.dtype = numpy.asarray(numbers), of, dtype
        self.device, self.layout = "cpu", strided

    def detach(self):
        return Tensor(self._numbers, dtype=self.dtype)

    def resolve_conj(self):
        return self

    resolve_neg = resolve_conj

    def numpy(self):
        if self._of is not None:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        if self.dtype == bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._numbers

    def bfloat16(self):
        return Tensor(self._numbers, dtype=bfloat16)

    def item(self):
        return self._numbers.item()

    def sum(self):
        if working:
            time.sleep(600)  # its threads are not in this process
        return Tensor(self._numbers.sum(), self)

    def __mul__(self, other):
        return Tensor(self._numbers * getattr(other, "_numbers", other), self)

    def __sub__(self, other):
        return Tensor(self._numbers - other._numbers, self)


working = False
"""Threads of this process have worked: in a fork of it nothing is worked any more."""


def tensor(numbers):
    return Tensor(numpy.asarray(numbers, "f4"))


def ones(size):
    return tensor([1.0] * min(size, 8))


def from_numpy(array):
    if type(array) is not numpy.ndarray:
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return Tensor(array)
