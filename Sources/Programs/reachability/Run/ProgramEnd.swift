/// How a run of a program ended, as one line for standard error.
struct ProgramEnd: Sendable, CustomStringConvertible {
    enum Cause: Hashable, Sendable {
        case exited(CInt)
        case signalled(CInt)
        /// It was not started: the status a shell would give, and why.
        case notStarted(CInt, String)

        /// As a shell has it: 128 and the number for a signal.
        var status: CInt {
            switch self {
            case .exited(let status), .notStarted(let status, _): status
            case .signalled(let signal): 128 + signal
            }
        }
    }

    /// What was watched; nil for the network at large.
    let target: String?
    let program: String
    let cause: Cause
    let duration: Duration
    /// The limit, as it was given, after which it was told to end.
    let exceededLimit: String?

    /// For example `network: sync.sh: exit status 0 after 1.204s`.
    var description: String {
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
    var secondsText: String {
        let milliseconds = String(components.attoseconds / 1_000_000_000_000_000)
        return "\(components.seconds).\(String(repeating: "0", count: 3 - milliseconds.utf8.count))\(milliseconds)s"
    }
}
