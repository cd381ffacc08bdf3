import ReachabilityRetry

/// How late Alamofire's delays are, by arithmetic.
package enum AlamofireArithmetic {
    /// The time from the return of a network that was gone for so long to the first attempt after it, with as many retries as
    /// it takes: with its limit of 2 it would have given up after 1.5 s.
    package static func delay(afterOutage outage: Duration) throws -> Duration {
        let backoff = try Backoff(cap: .seconds(86_400), isJittered: false)
        var time = Duration.zero
        var retry = 0
        while time < outage {
            retry += 1
            time += backoff.longestWait(beforeRetry: retry)
        }
        return time - outage
    }

    /// The median of that for outages of 1 to 60 s.
    package static func median(of count: Int, seed: UInt64) throws -> Duration {
        var random = SeededGenerator(seed: seed)
        let delays = try (0..<count).map { _ in
            try delay(afterOutage: .milliseconds(Int.random(in: 1000...60_000, using: &random)))
        }
        return delays.sorted()[count / 2]
    }
}
