extension Scenario {
    /// Policy rules for all packets.
    static let rules =
        ["prohibit", "unreachable", "blackhole"].flatMap { action in
            [
                Scenario(
                    id: "i4-\(action)",
                    title: "\(action) rule for IPv4",
                    setup: noIPv6,
                    change: "C rule add pref 100 \(action)",
                    undo: "C rule del pref 100",
                    before: "g4",
                    after: "",
                    back: "g4"
                ),
                Scenario(
                    id: "i4-\(action)-ipv6",
                    title: "\(action) rule for IPv6",
                    setup: noIPv4,
                    change: "C -6 rule add pref 100 \(action)",
                    undo: "C -6 rule del pref 100",
                    before: "g6",
                    after: "",
                    back: "g6"
                ),
            ]
        } + [
            Scenario(
                id: "i5",
                title: "rule that forbids our own user",
                setup: noIPv6,
                change: "C rule add pref 100 uidrange 0-0 prohibit",
                undo: "C rule del pref 100",
                before: "g4",
                after: "",
                back: "g4"
            ),
            Scenario(
                id: "i5-other",
                title: "rule that forbids another user",
                setup: noIPv6,
                change: "C rule add pref 100 uidrange 1-1 prohibit",
                undo: "C rule del pref 100",
                before: "g4",
                after: "g4",
                back: "g4",
                needs: [.otherUsers]
            ),
            Scenario(
                id: "x3-output",
                title: "rule that forbids what this machine sends",
                setup: noIPv6,
                change: "C rule add pref 100 iif lo prohibit",
                undo: "C rule del pref 100",
                before: "g4",
                after: "",
                back: "g4"
            ),
            Scenario(
                id: "x3-device",
                title: "rule for sockets bound to a device",
                change: "C rule add pref 100 oif c0 prohibit",
                undo: "C rule del pref 100",
                after: "g46"
            ),
            Scenario(
                id: "x3-destination",
                title: "rules that forbid one network of each family",
                change:
                    "C rule add pref 100 to 203.0.113.0/24 prohibit; C -6 rule add pref 100 to fd77::/64 unreachable",
                undo: "C rule del pref 100; C -6 rule del pref 100",
                after: "g"
            ),
        ]

    /// Policy rules that choose a table.
    static let tables = [
        Scenario(
            id: "i1",
            title: "rule for marked packets",
            change: "C rule add fwmark 0x1 lookup 100; C -6 rule add fwmark 0x1 lookup 100",
            undo: "C rule del fwmark 0x1 lookup 100; C -6 rule del fwmark 0x1 lookup 100",
            after: "g46"
        ),
        Scenario(
            id: "i2",
            title: "rule makes the table with the default route count",
            setup: "\(noDefaults); C route add default via 10.1.0.1 table 100",
            change: "C rule add pref 1000 lookup 100",
            undo: "C rule del pref 1000",
            before: "",
            after: "g4",
            back: ""
        ),
        Scenario(
            id: "i2-ipv6",
            title: "rule makes the table with the IPv6 default route count",
            setup: "\(noDefaults); C route add ::/0 via fd01::1 table 100",
            change: "C -6 rule add pref 1000 lookup 100",
            undo: "C -6 rule del pref 1000",
            before: "",
            after: "g6",
            back: ""
        ),
        Scenario(
            id: "i2-host",
            title: "rule sends one host to a table that refuses",
            setup: "C route add unreachable default table 100",
            change: "C rule add pref 1000 to 203.0.113.0/24 lookup 100",
            undo: "C rule del pref 1000",
            after: "g6"
        ),
        Scenario(
            id: "i6",
            title: "rule of the main table deleted",
            setup: noIPv6,
            change: "C rule del pref 32766",
            undo: "C rule add pref 32766 lookup main",
            before: "g4",
            after: "",
            back: "g4"
        ),
        Scenario(
            id: "i7",
            title: "default routes of the main table suppressed",
            setup: noIPv6,
            change: "C rule add pref 100 lookup main suppress_prefixlength 0; C rule del pref 32766",
            undo: "C rule add pref 32766 lookup main; C rule del pref 100",
            before: "g4a",
            after: "a",
            back: "g4a",
            hosts: ["10.1.0.1"]
        ),
    ]
}
