import Testing

/// A change of a network and its reversal, with the path before, after and back again.
struct PathCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// The target; nil for the network at large.
    var host: String?
    var mark: UInt32 = 0
    let setup: [Change]
    let change: [Change]
    let undo: [Change]
    let before: String
    let after: String
    /// Whether a real kernel takes its time to make the change true.
    var takesTime = false
    /// Whether the network really goes through other states on the way.
    var mayPass = false

    var testDescription: String { name }

    static let all = [
        links, addresses, devices, defaults, refusals, rules, nextHops, hops, stacked, modems, ownAddresses, lifetimes,
        neighbours,
    ].flatMap(\.self)

    /// The network at large through `c0`.
    static let throughFirst = "-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46"
    /// The same through `c1`.
    static let throughSecond = "-R ------- c1 via 10.2.0.1 from 10.2.0.2 table 254 mtu 1500 for 46"
    /// An IPv4 host through `c0`.
    static let hostThroughFirst = "-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 4"
    static let hostThroughSecond = "-R ------- c1 via 10.2.0.1 from 10.2.0.2 table 254 mtu 1500 for 4"
    /// An IPv6 host through `c0`.
    static let host6ThroughFirst = "-R ------- c0 via fd01::1 from fd01::2 table 254 mtu 1500 for 6"
    static let noRoute = "-- ------- noRoute"

    /// Sets the first uplink up again after it was set down.
    static let upAgain: [Change] =
        [.up("c0"), .address("fd01::2/64", on: "c0")] + Change.defaults(Change.addRoute)
}
