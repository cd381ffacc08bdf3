import NetworkReachability

/// Pauses and statuses drawn at random, the same ones for the same seed.
struct SettleHistory {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15
    }

    mutating func pause() -> Int {
        switch draw(10) {
        case 0: 0
        case 1: 1000
        case 2: 2000
        case 3, 4: 1 + draw(20)
        case 5, 6: 200 + draw(800)
        case 7, 8: 900 + draw(2500)
        default: 5000 + draw(40_000)
        }
    }

    mutating func status() -> NetworkReachabilityStatus {
        [.wired, .notReachable, .reachable(.wwan), .notReachable, .wired][draw(5)]
    }

    /// Knuth's linear congruential generator; its high bits are good enough.
    private mutating func draw(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
