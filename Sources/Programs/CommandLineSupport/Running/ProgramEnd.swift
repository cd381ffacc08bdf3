/// How a run of a program ended, as one line for standard error.
package struct ProgramEnd: Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        case exited(CInt)
        case signalled(CInt)
        /// It was not started: the status a shell would give, and why.
        case notStarted(CInt, String)

        /// As a shell has it: 128 and the number for a signal.
        package var status: CInt {
            switch self {
            case .exited(let status), .notStarted(let status, _): status
            case .signalled(let signal): 128 + signal
            }
        }
    }

    /// What was watched; nil for the network at large.
    package let target: String?
    package let program: String
    package let cause: Cause
    package let duration: Duration
    /// The limit, as it was given, after which it was told to end.
    package let exceededLimit: String?

    package init(target: String?, program: String, cause: Cause, duration: Duration, exceededLimit: String?) {
        (self.target, self.program, self.cause) = (target, program, cause)
        (self.duration, self.exceededLimit) = (duration, exceededLimit)
    }

    /// For example `network: sync.sh: exit status 0 after 1.204s`.
    package var description: String {
        var text = "\(target ?? "network"): \(program): "
        switch cause {
        case .exited(let status), .notStarted(let status, _): text += "exit status \(status)"
        case .signalled(let signal): text += "ended by signal \(signal)"
        }
        text += " after \(duration.secondsText)"
        if case .notStarted(_, let why) = cause { text += ", not started: \(why)" }
        if let exceededLimit { text += ", told to end after \(exceededLimit)" }
        return text
    }
}

extension Duration {
    /// Seconds with three decimals, for example `1.204s`.
    package var secondsText: String {
        let milliseconds = String(components.attoseconds / 1_000_000_000_000_000)
        return "\(components.seconds).\(String(repeating: "0", count: 3 - milliseconds.utf8.count))\(milliseconds)s"
    }
}
