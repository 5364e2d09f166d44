"""A block of the CUDA simulator that waits for its threads instead of asking all of them all the time.

The simulator's own loop takes the interpreter from the threads that it asks, for half of the time.  Here a
thread tells when it arrives at a barrier or ends.
"""

import threading

from numba.cuda.simulator import kernel


class Thread(kernel.BlockThread):
    """A thread of a block, whose manager counts those that have arrived at a barrier or ended."""

    def run(self):
        super().run()
        if self.exception:
            self._manager.failed = self
        self._manager.arrived.release()

    def syncthreads(self):
        if not self.abort:
            self.syncthreads_blocked = True
            self._manager.arrived.release()
            self.syncthreads_event.wait()
            self.syncthreads_event.clear()
        if self.abort:
            raise RuntimeError("another thread of the block has failed")


def run(self, grid_point, *arguments):
    """Run one block: all threads until they end, in turns between barriers."""
    self.arrived, self.failed = threading.Semaphore(0), None
    threads = [
        Thread(lambda: self._f(*arguments), self, grid_point, block_point, self._debug)
        for block_point in kernel.np.ndindex(*self._block_dim)
    ]
    for thread in threads:
        thread.start()
    running = threads
    while running:
        for _ in running:
            self.arrived.acquire()
            if self.failed:
                for thread in threads:
                    thread.abort = True
                    thread.syncthreads_event.set()
                error, traceback = self.failed.exception
                raise error.with_traceback(traceback)
        running = [thread for thread in running if thread.syncthreads_blocked]
        for thread in running:
            thread.syncthreads_blocked = False
        for thread in running:
            thread.syncthreads_event.set()


def install():
    """Let the simulator run blocks in this way."""
    kernel.BlockManager.run = run
