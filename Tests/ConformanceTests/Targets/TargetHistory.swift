/// Hosts, addresses and routes drawn at random from a small part of the network, the same ones for the same seed.
struct TargetHistory {
    static let names = ["a.example", "b.example", "c.example"]

    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15
    }

    mutating func address() -> String {
        draw(2) == 0 ? "198.18.\(draw(4)).\(draw(8) * 32 + draw(3))" : "2001:db8:\(draw(4))::\(draw(4)):\(draw(3) + 1)"
    }

    mutating func host() -> String {
        draw(8) == 0 ? TargetHistory.names[draw(3)] : address()
    }

    mutating func addresses() -> [String] {
        (0...draw(3)).map { _ in address() }
    }

    /// A route to some, many or none of the addresses, of either uplink or to nowhere.
    mutating func route() -> RouteChange {
        let isIPv4 = draw(2) == 0
        let number = draw(2) + 1
        let destination =
            isIPv4
            ? [
                "198.18.\(draw(4)).0/24", "198.18.\(draw(4)).\(draw(8) * 32)/27",
                "198.18.\(draw(4)).\(draw(8) * 32 + draw(3))/32",
                "198.18.0.0/15", "198.18.\(draw(2) * 2).0/23", "192.0.0.0/3", "10.\(draw(200) + 9).0.0/16",
                "128.0.0.0/1",
            ][draw(8)]
            : [
                "2001:db8:\(draw(4))::/48", "2001:db8:\(draw(4))::\(draw(4)):\(draw(3) + 1)/128", "2001:db8::/32",
                "2000::/3", "2001:db8:\(draw(2) * 2)::/47", "fd77:\(draw(99))::/64",
            ][draw(6)]
        switch draw(3) {
        case 0: return RouteChange(destination, [.blackhole, .unreachable, .prohibit][draw(3)])
        default: return RouteChange(destination, via: isIPv4 ? "10.\(number).0.1" : "fd0\(number)::1")
        }
    }

    /// Knuth's linear congruential generator; its high bits are good enough.
    mutating func draw(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
