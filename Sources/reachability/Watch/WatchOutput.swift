import NetworkReachability

/// How `watch` prints, and what it counts as a change.
struct WatchOutput: Sendable {
    let json: Bool
    let withFlags: Bool
    let withNamespace: Bool
    let interest: NetworkReachabilityInterest

    func write(_ line: PathLine) {
        StandardOutput.write(
            json
                ? line.json(at: Timestamp())
                : line.text(at: Timestamp(), withFlags: withFlags, withNamespace: withNamespace)
        )
    }
}
