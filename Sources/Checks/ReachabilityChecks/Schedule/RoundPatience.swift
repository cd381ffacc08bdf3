/// How much time a round of a check that goes on has: on a line as slow as some over satellites and in bad reception, more than usual. Never
/// less, for a router takes three seconds to say that a host is unreachable.
struct RoundPatience: Sendable {
    static let longest = Duration.seconds(8)

    /// The slowest of the round trips that were measured; it rises at once, and falls slowly.
    private var roundTrip = Duration.zero

    /// Takes what a round has measured.
    mutating func note(_ results: [ProbeResult]) {
        guard let slowest = results.compactMap(\.evidence.kernelRoundTrip).max() else { return }
        roundTrip = max(slowest, (roundTrip * 7 + slowest) / 8)
    }

    /// Room for four round trips: a name, a connection, a handshake, an answer.
    ///
    /// - Parameter usual: what the user wants; anything but the default is kept to.
    func limit(_ usual: Duration) -> Duration {
        guard usual == CheckOptions().timeLimit else { return usual }
        return max(usual, min(Self.longest, roundTrip * 4 + .milliseconds(300)))
    }
}
