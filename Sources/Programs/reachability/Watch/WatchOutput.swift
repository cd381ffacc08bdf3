import CommandLineSupport
import LinuxSupport
import NetworkReachability

/// How `watch` prints, and what it counts as a change.
struct WatchOutput: Sendable {
    let json: Bool
    let withFlags: Bool
    let withNamespace: Bool
    let interest: NetworkReachabilityInterest

    /// - Parameters:
    ///   - flags: Whether changes of the flags are told.
    ///   - paths: Whether changes of the way are told.
    init(json: Bool, flags: Bool, paths: Bool, withNamespace: Bool = false) {
        self.json = json
        withFlags = flags
        self.withNamespace = withNamespace
        // The last line is to say what is wrong now.
        var interest: NetworkReachabilityInterest = [.status, .reason]
        if flags { interest.insert(.flags) }
        if paths { interest.insert(.egress) }
        self.interest = interest
    }

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
