import CommandLineSupport
import NetworkReachability

/// How `watch` prints, and what it counts as a change.
struct WatchOutput: Sendable {
    let json: Bool
    let withFlags: Bool
    let withNamespace: Bool
    let interest: NetworkReachabilityInterest

    func write(_ line: PathLine) {
        StandardOutput.write(text(line, at: Timestamp()))
    }

    /// The line as it is printed, without its end.
    func text(_ line: PathLine, at time: @autoclosure () -> Timestamp) -> [UInt8] {
        json
            ? line.json(at: time())
            : line.text(at: time(), withFlags: withFlags, withNamespace: withNamespace)
    }
}
