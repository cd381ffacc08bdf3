import ServerTrust

/// How long a certificate is still valid, in words: `expires in 89 days`.
struct TimeLeft: CustomStringConvertible {
    let end: TrustTime
    let now: TrustTime

    /// Negative when it is over.
    var seconds: Int64 { end.secondsSinceEpoch - now.secondsSinceEpoch }

    var description: String {
        seconds < 0 ? "expired \(Self.words(-seconds)) ago" : "expires in \(Self.words(seconds))"
    }

    /// In the largest unit of which there are two.
    private static func words(_ seconds: Int64) -> String {
        let units: [(name: String, seconds: Int64)] = [
            ("years", 365 * 86_400), ("days", 86_400), ("hours", 3600), ("minutes", 60),
        ]
        guard let unit = units.first(where: { seconds >= 2 * $0.seconds }) else { return "\(seconds) s" }
        return "\(seconds / unit.seconds) \(unit.name)"
    }
}
