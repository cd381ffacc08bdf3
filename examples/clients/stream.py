#!/usr/bin/python3
"""Prints the state of each target, then each outage, from the event stream of the service. Needs only the standard library.

usage: stream.py [SOCKET]
"""

import http.client
import json
import socket
import sys


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


connection = UnixConnection(sys.argv[1] if len(sys.argv) > 1 else "/run/reachability/reachability.sock")
connection.request("GET", "/v1/stream")
for line in connection.getresponse():
    if not line.startswith(b"data: "):
        continue
    event = json.loads(line[6:])
    if event["kind"] == "status":
        for target in event["targets"]:
            print(target["name"], target["state"], flush=True)
    elif event["event"] in ("outageBegan", "outageEnded"):
        outage = event["outage"]
        print(event["event"], outage["target"], outage["attribution"], outage["cause"], flush=True)
