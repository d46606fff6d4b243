#!/usr/bin/env python3
"""Writes a block of a volume over NBD, reads it back, and puts back what was there before.

usage: nbd_client.py HOST PORT VOLUME, for example nbd_client.py 127.0.0.1 10809 demo"""
import os, socket, struct, sys
BLOCK, READ, WRITE, FLUSH = 4096, 0, 1, 3

def send(layout, *fields, data=b""):
    server.write(struct.pack(layout, *fields) + data)
    server.flush()

def receive(length):
    data = server.read(length)
    return data if len(data) == length else sys.exit("the server closed the connection")

def open_volume(name):                                  # fixed newstyle: NBD_OPT_GO is option 7
    if receive(18)[:16] != b"NBDMAGICIHAVEOPT":
        sys.exit("this is not an NBD server of the new style")
    send(">I8sIII", 3, b"IHAVEOPT", 7, len(name) + 6, len(name), data=name + b"\0\0")
    while True:
        _, _, kind, length = struct.unpack(">QIII", receive(20))
        answer = receive(length)
        if kind == 1: return                            # NBD_REP_ACK: requests may begin
        if kind >> 31:                                  # an error, mostly with a text
            sys.exit(f"the server refuses: {answer.decode()}")

def ask(command, length=0, data=b""):                   # a request for the volume's first bytes
    send(">IHHQQI", 0x25609513, 0, command, 1, 0, length, data=data)
    _, error, _ = struct.unpack(">IIQ", receive(16))
    return receive(length * (command == READ)) if error == 0 else sys.exit(os.strerror(error))

server = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60).makefile("rwb")
open_volume(sys.argv[3].encode())
before, new = ask(READ, BLOCK), os.urandom(BLOCK)
ask(WRITE, BLOCK, new)
ask(FLUSH)
back = ask(READ, BLOCK)
ask(WRITE, BLOCK, before)
ask(FLUSH)
print("the block reads back as it was written") if back == new else sys.exit("the block DIFFERS")
