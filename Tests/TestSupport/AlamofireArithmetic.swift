import ReachabilityRetry

/// The computed delay of Alamofire's retries after an outage.
package enum AlamofireArithmetic {
    /// Returns the time from the return of the network to the next attempt, with unlimited retries. With Alamofire's
    /// default limit of 2 retries, the request would have ended after 1.5 s.
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

    /// Returns the median delay for outages of 1 to 60 s.
    package static func median(of count: Int, seed: UInt64) throws -> Duration {
        var random = SeededGenerator(seed: seed)
        let delays = try (0..<count).map { _ in
            try delay(afterOutage: .milliseconds(Int.random(in: 1000...60_000, using: &random)))
        }
        return delays.sorted()[count / 2]
    }
}
