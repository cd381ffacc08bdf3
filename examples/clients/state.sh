#!/bin/sh
# Prints the state of the network in three ways: over D-Bus, over the socket of the service, and with the command, which needs no service.
#
# usage: state.sh bus | socket [PATH] | watch
set -eu

case $1 in
    bus)
        # Debian: systemd
        name=net.reachability.Monitor1
        busctl --system get-property $name /net/reachability/Monitor1 $name Status Party Headline
        ;;
    socket)
        # Debian: curl, jq
        curl -sS --unix-socket "${2:-/run/reachability/reachability.sock}" http://localhost/v1/targets |
            jq -r '.items[] | "\(.name): \(.state)"'
        ;;
    watch)
        # Debian: jq
        reachability watch --json | jq -r --unbuffered '"\(.time) \(.status) \(.reason // "")"'
        ;;
esac
