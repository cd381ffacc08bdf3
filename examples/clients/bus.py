#!/usr/bin/python3
"""Prints the state of each target and each change, as the service publishes it over D-Bus.

Debian: python3-dbus, python3-gi
"""

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

NAME = "net.reachability.Monitor1"
PATH = "/net/reachability/Monitor1"


def show(targets):
    for name, target in targets.items():
        print(f"{name}: {target['Status']} {target['Party']} {target['Reason']}".rstrip(), flush=True)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
# Follow the changes first, then read the state, so that no change is missed.
bus.add_signal_receiver(show, signal_name="Changed", dbus_interface=NAME, bus_name=NAME, path=PATH)
show(bus.get_object(NAME, PATH).Get(NAME, "Targets", dbus_interface=dbus.PROPERTIES_IFACE))
GLib.MainLoop().run()
