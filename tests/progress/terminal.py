"""Runs a program with a terminal of so many columns as its standard error, and prints what the terminal is sent.

    terminal.py COLUMNS PROGRAM [ARGUMENT...]
"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

columns, argv = int(sys.argv[1]), sys.argv[2:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
environment = {**os.environ, "TERM": "xterm"}
child = subprocess.Popen(
    argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
)
os.close(theirs)
while True:
    try:
        sent = os.read(ours, 65536)
    except OSError:
        # The other end is closed: nothing more is to come.
        break
    if not sent:
        break
    sys.stdout.buffer.write(sent)
sys.stdout.buffer.flush()
child.wait()
