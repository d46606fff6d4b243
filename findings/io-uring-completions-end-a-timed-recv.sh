#!/usr/bin/env bash
# A thread that has an io_uring, and a request in it, waits in a plain recv() on another socket. When
# the request completes, recv() ends with EINTR if its socket has a timeout (SO_RCVTIMEO), though no
# signal was sent. Without a timeout the kernel begins the call again, and nobody notices. So a
# blocking client library breaks once its thread also uses a ring. IORING_SETUP_COOP_TASKRUN, which
# is to spare the thread interruptions, changes nothing here; IORING_SETUP_DEFER_TASKRUN helps.
#
# Expected before the run: a completion waits in the ring, and recv() ends with EAGAIN after its
# second, with each kind of ring.
# Source: Linux 6.18 (any with IORING_SETUP_DEFER_TASKRUN, so 6.1 or newer), liburing 2026.3.30 of
# PyPI. Needs python3 with venv, and a kernel that allows io_uring.
set -euo pipefail

VERSION=2026.3.30
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check --only-binary :all: "liburing==$VERSION"

cat > try.py <<'PYTHON'
import ctypes, errno, os, platform, socket, struct, sys, threading, time
import liburing as uring

rings = []
libc = ctypes.CDLL(None, use_errno=True)  # Python's own recv() begins anew after EINTR


def recv(flags, with_timeout):
    """How a recv() of this thread ends whose ring completes a read after 0.2 s."""
    ours, theirs = socket.socketpair()
    if with_timeout:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 1, 0))
    pipe_out, pipe_in = os.pipe()
    ring, buffer = uring.Ring(), bytearray(8)
    if flags is not None:
        uring.io_uring_queue_init(8, ring, flags)
        entry = uring.io_uring_get_sqe(ring)
        uring.io_uring_prep_read(entry, pipe_out, buffer, len(buffer), 0)
        uring.io_uring_submit(ring)

    def other_thread():
        time.sleep(0.2)
        os.write(pipe_in, b"x")  # completes the read of the ring
        time.sleep(1.8)
        theirs.send(b"y")

    other = threading.Thread(target=other_thread)
    other.start()
    began = time.monotonic()
    count = libc.recv(ours.fileno(), ctypes.create_string_buffer(8), 8, 0)
    end = errno.errorcode[ctypes.get_errno()] if count < 0 else f"{count} byte"
    took = time.monotonic() - began
    other.join()
    rings.append(ring)  # the end of a ring interrupts the next call as well
    return end, took


COOP = uring.IORING_SETUP_COOP_TASKRUN
DEFER = uring.IORING_SETUP_DEFER_TASKRUN | uring.IORING_SETUP_SINGLE_ISSUER
print(f"Linux {platform.release()}, liburing {uring.__version__}")
failures = 0
for name, flags, with_timeout, expected, seconds in [
    ("no ring, timeout of 1 s", None, True, "EAGAIN", (0.9, 1.7)),
    ("plain ring, timeout of 1 s", 0, True, "EINTR", (0.1, 0.9)),
    ("plain ring, no timeout", 0, False, "1 byte", (1.7, 9.0)),
    ("COOP_TASKRUN, timeout of 1 s", COOP, True, "EINTR", (0.1, 0.9)),
    ("DEFER_TASKRUN, timeout of 1 s", DEFER, True, "EAGAIN", (0.9, 1.7)),
]:
    end, took = recv(flags, with_timeout)
    print(f"{name:<30} ->  {end} after {took:.1f} s")
    if end != expected or not seconds[0] <= took <= seconds[1]:
        print(f"  expected: {expected} after {seconds[0]} to {seconds[1]} s", file=sys.stderr)
        failures += 1
sys.exit(failures > 0)
PYTHON
tools/bin/python try.py
