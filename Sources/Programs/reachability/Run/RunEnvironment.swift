import NetworkReachability
import Subprocess

/// What a command is told of the state it is run for. Every variable is always set; what is not known is empty.
struct RunEnvironment {
    /// The host as it was given; nil for the network at large.
    let target: String?
    /// The name of the network namespace that was asked in; nil for the current one.
    let namespace: String?
    let change: StateChange
    /// What is told besides.
    var others: [(name: String, value: String)] = []

    /// Each variable and its value, in the order of the documentation.
    var variables: [(name: String, value: String)] {
        let path = change.path
        var connectionType = ""
        if case .reachable(let type) = path.status { connectionType = type.rawValue }
        let variables = [
            ("STATUS", path.status.word),
            ("PREVIOUS", change.previous?.word ?? ""),
            ("TARGET", target ?? ""),
            ("REASON", path.reason?.rawValue ?? ""),
            ("CONNECTION_TYPE", connectionType),
            ("INTERFACE", path.interface?.name ?? ""),
            ("INTERFACE_TYPE", path.interface?.type.rawValue ?? ""),
            ("GATEWAY", path.gateway?.description ?? ""),
            ("SOURCE", path.source?.description ?? ""),
            ("DESTINATION", path.destination?.description ?? ""),
            ("FLAGS", path.flags?.names.joined(separator: " ") ?? ""),
            ("GENERATION", String(path.generation)),
            ("NAMESPACE", namespace ?? ""),
        ]
        return (variables + others).map { ("REACHABILITY_" + $0, $1) }
    }

    /// Our own environment, with the variables.
    var environment: Environment {
        var updates: [Environment.Key: String?] = [:]
        for (name, value) in variables { updates[Environment.Key(stringLiteral: name)] = value }
        return .inherit.updating(updates)
    }
}

extension NetworkReachabilityStatus {
    /// One word, as `--on` has it.
    fileprivate var word: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "not-reachable"
        case .reachable: "reachable"
        }
    }
}
