import CommandLineSupport
import Glibc
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// What `wait` says, and to whom.
struct WaitOutput: Sendable {
    private let json: Bool
    /// The name of the network namespace; nil for the current one.
    private let namespace: String?
    /// The time limit as it was given.
    private let timeout: String?
    private let start = Timestamp()
    private let hasAudience = isatty(STDERR_FILENO) == 1

    init(json: Bool, namespace: String?, timeout: String?) {
        self.json = json
        self.namespace = namespace
        self.timeout = timeout
    }

    /// Tells a person at a terminal what is still waited for.
    func progress(_ states: [NetworkCondition.State]) {
        guard hasAudience else { return }
        let missing = states.filter { !$0.holds }.map { "\($0.condition.phrase): \($0.text)" }
        if !missing.isEmpty { StandardError.write("reachability: waiting for \(missing.joined(separator: "; "))") }
    }

    /// Tells what was waited for in vain.
    func complain(_ states: [NetworkCondition.State], holds: Bool, stable: String?) {
        let waited = "waited \(timeout ?? "") for"
        if holds {
            return StandardError.write("reachability: \(waited) the conditions to last \(stable ?? "")")
        }
        for state in states where !state.holds {
            StandardError.write("reachability: \(waited) \(state.condition.phrase): \(state.text)")
        }
    }

    /// The end as a JSON object of schema 1, where that is wanted: keys may be added, none is renamed or taken away.
    func write(_ states: [NetworkCondition.State], hasTimedOut: Bool) {
        guard json else { return }
        let time = Timestamp()
        var line = JSONObject()
        line.add("schema", 1)
        line.add("time", time)
        line.add("monotonicNanoseconds", time.monotonicNanoseconds)
        line.add("namespace", namespace)
        line.add("outcome", hasTimedOut ? "timedOut" : "held")
        line.add("waitedMilliseconds", (time.monotonicNanoseconds - start.monotonicNanoseconds) / 1_000_000)
        line.add("conditions", states.map(JSONObject.init))
        line.add("kind", "wait")
        StandardOutput.write(line.bytes)
    }
}

extension NetworkCondition {
    /// What is waited for, as it follows "waited for".
    fileprivate var phrase: String {
        switch self {
        case .target(let host, let goal):
            let name = host ?? "the network"
            return switch goal {
            case .reachable: "\(name) to be reachable"
            case .notReachable: "\(name) not to be reachable"
            case .ethernet: "\(name) to be reachable over ethernet or Wi-Fi"
            case .wwan: "\(name) to be reachable over WWAN"
            }
        case .name(let name): return "the name \(name) to resolve"
        case .route(let prefix): return "a route to \(prefix)"
        case .interface(let name): return "interface \(name)"
        }
    }
}

extension JSONObject {
    fileprivate init(_ state: NetworkCondition.State) {
        self.init()
        let (kind, value, goal): (String, String?, String?) =
            switch state.condition {
            case .target(let host, let goal): (host == nil ? "network" : "host", host, goal.rawValue)
            case .name(let name): ("dns", name, nil)
            case .route(let prefix): ("route", prefix.description, nil)
            case .interface(let name): ("interface", name, nil)
            }
        add("condition", kind)
        add("value", value)
        add("for", goal)
        add("holds", state.holds)
        add("reason", state.reason?.rawValue)
        add("text", state.text)
    }
}
