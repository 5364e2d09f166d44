"""Several GPUs ask for kernels at the same time."""

from threading import Thread

import numpy as np
import pytest

from edgewise.device import each


@each
def double(index, values):
    values[index] *= 2


@pytest.mark.ptx
def test_two_threads_compile_for_two_gpus():
    from numba.cuda import dispatcher

    asked, texts = dispatcher.get_current_device, {}

    def compile_for(capability, kind):
        texts[capability, kind] = double.cuda.ptx((kind,), capability)

    jobs = [(c, f"{np.dtype(t).name}[]") for c in ((8, 0), (9, 0)) for t in (np.int64, np.float32)]
    threads = [Thread(target=compile_for, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(f".target sm_{c[0]}{c[1]}" in texts[c, kind]) for c, kind in jobs} == {True}
    assert dispatcher.get_current_device is asked
