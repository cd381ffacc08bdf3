import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// `reachability wait`: waits until conditions of the network hold.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until the network meets conditions.",
        usage: "reachability wait [<host> ...] [<options>]",
        discussion: """
            Examples: reachability wait example.org --timeout 30s
                      reachability wait --interface eth0 --route 10.0.0.0/8 --stable 2s
            Exit status: 0 conditions met, 64 usage error, 74 output error, 75 timeout, 77
            no permission, 130 SIGINT, 143 SIGTERM.
            """
    )

    // Hidden for space, because the usage line shows it.
    @Argument(help: .rare("Names or addresses (default: the network at large).", "host"))
    var hosts: [String] = []

    @Flag(help: "Wait for all conditions at once, or for any.")
    var quantifier: WaitQuantifier = .all

    @Option(duration: "The maximum time to wait: 500ms, 30s, 5m.")
    var timeout: DurationArgument?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The status of the hosts to wait for.", valueName: "goal")
    )
    var goal: NetworkCondition.Goal?

    @Option(duration: "The time for which the conditions must hold.")
    var stable: DurationArgument?

    @Option(help: ArgumentHelp("Wait until the name resolves; repeatable.", valueName: "name"))
    var dns: [String] = []

    @Option(help: ArgumentHelp("Wait for a usable route to the prefix; repeatable.", valueName: "prefix"))
    var route: [IPPrefix] = []

    @Option(
        name: .customLong("interface"),
        help: ArgumentHelp("Wait until the interface is usable; repeatable.", valueName: "name"),
        completion: .custom { _, _, _ in EgressOptions.interfaceNames() }
    )
    var interfaces: [String] = []

    @Option(
        help: ArgumentHelp("The interface or VRF that packets are bound to.", valueName: "name"),
        completion: .custom { _, _, _ in EgressOptions.interfaceNames() }
    )
    var over: String?

    // Hidden for space.
    @Flag(help: .rare("Wait until an active check of hosts or URLs succeeds."))
    var works = false

    @OptionGroup(visibility: .hidden) var active: ActiveOptions

    @OptionGroup var namespaceOptions: NamespaceOptions

    @Flag(help: "Print the result as a JSON object (schema 1).")
    var json = false

    func validate() throws {
        guard works else {
            if active.isEmpty { return }
            throw ValidationError("--anchor and --resolve need --works.")
        }
        if !route.isEmpty || !interfaces.isEmpty || goal != nil || stable != nil {
            throw ValidationError("--works excludes --route, --interface, --for and --stable.")
        }
    }

    func run() throws {
        if works { try becomeCheck() }
        let (timeout, stable) = (try timeout?.value, try stable?.value ?? .zero)
        let conditions = try conditions()
        var signals = Signals([SIGINT, SIGTERM])
        var options = NetworkReachabilityOptions()
        options.networkNamespace = try namespaceOptions.namespace
        options.interface = over
        let output = WaitOutput(json: json, namespace: namespaceOptions.name, timeout: self.timeout?.text)
        let watcher = try ConditionWatcher(
            conditions,
            inspector: try NetworkInspector(options: options),
            needsAll: quantifier == .all,
            stability: stable,
            changed: { output.progress($0) },
            done: { states in
                output.write(states, hasTimedOut: false)
                Glibc.exit(0)
            }
        )
        if stable <= .zero {
            // Listening costs more than one query.
            let (states, holds) = watcher.evaluateAll()
            if holds { return output.write(states, hasTimedOut: false) }
        }
        watcher.start()
        let signal = signals.next(within: timeout)
        if let signal { Glibc.exit(128 + signal) }
        let (states, holds) = watcher.evaluateAll()
        // If another thread reports success at this moment, it ends the process.
        guard watcher.cancel() else { while true { pause() } }
        // A change may have arrived at the time limit.
        let isInTime = holds && stable <= .zero
        output.write(states, hasTimedOut: !isInTime)
        if isInTime { return }
        output.reportMissing(states, holds: holds, stable: self.stable?.text)
        throw ExitCode(ExitMessage.Status.temporaryFailure.rawValue)
    }

    private func becomeCheck() throws -> Never {
        var line = CheckLine(hosts, namespaceOptions, json: json)
        line.add("--interface", over)
        // Refuses an invalid duration.
        _ = try timeout?.value
        line.add("--within", timeout?.text)
        line.add(active, servers: dns)
        if quantifier == .any { line.add("--any") }
        try CompanionProgram.tools.become(["until-works"] + line.words)
    }

    private func conditions() throws(ExitMessage) -> [NetworkCondition] {
        for name in interfaces where !InterfaceName.isValid(name) {
            throw ExitMessage("\"\(name.printable)\" is not the name of an interface", .usage)
        }
        for name in dns where IPAddress(name) != nil {
            throw ExitMessage(
                "--dns takes a name, and \(name.printable) is an address; did you mean: reachability wait \(name.printable)",
                .usage
            )
        }
        let others = dns.map(NetworkCondition.name) + route.map { .route($0) } + interfaces.map { .interface($0) }
        // A goal needs a target, which is the network at large if there are no hosts.
        let isAtLarge = hosts.isEmpty && (others.isEmpty || goal != nil)
        let targets: [String?] = isAtLarge ? [nil] : hosts
        return targets.map { .target($0, goal ?? .reachable) } + others
    }
}

/// Whether all conditions must hold, or any.
enum WaitQuantifier: EnumerableFlag {
    case all
    case any
}

extension NetworkCondition.Goal: ExpressibleByArgument {}

extension IPPrefix: ExpressibleByArgument {
    /// `192.0.2.0/24`, `2001:db8::/32` or `default`.
    package init?(argument: String) {
        self.init(argument)
    }
}

/// The output of `wait`.
struct WaitOutput: Sendable {
    private let json: Bool
    /// The name of the network namespace; nil for the current one.
    private let namespace: String?
    /// The time limit as given on the command line.
    private let timeout: String?
    private let start = Timestamp()

    init(json: Bool, namespace: String?, timeout: String?) {
        self.json = json
        self.namespace = namespace
        self.timeout = timeout
    }

    /// Prints the missing conditions on a terminal.
    func progress(_ states: [NetworkCondition.State]) {
        guard StandardError.isTerminal else { return }
        let missing = states.filter { !$0.holds }.map { "\($0.condition.phrase): \($0.text)" }
        if !missing.isEmpty { StandardError.report("waiting for \(missing.joined(separator: "; "))") }
    }

    /// Reports on standard error the conditions that do not hold at the time limit.
    func reportMissing(_ states: [NetworkCondition.State], holds: Bool, stable: String?) {
        let waited = "timeout after \(timeout ?? "") while waiting for"
        if holds {
            return StandardError.report("\(waited) the conditions to last \(stable ?? "")")
        }
        for state in states where !state.holds {
            StandardError.report("\(waited) \(state.condition.phrase): \(state.text)")
        }
    }

    /// Prints the result with `--json` as a JSON object of schema 1. Keys may be added; none is renamed or removed.
    func write(_ states: [NetworkCondition.State], hasTimedOut: Bool) {
        guard json else { return }
        let time = Timestamp()
        var line = JSONObject(at: time)
        line.add("namespace", namespace)
        line.add("outcome", hasTimedOut ? "timedOut" : "held")
        line.add("waitedMilliseconds", (time.monotonicNanoseconds - start.monotonicNanoseconds) / 1_000_000)
        line.add("conditions", states.map(JSONObject.init))
        line.add("kind", "wait")
        StandardOutput.write(line.bytes)
    }
}

extension NetworkCondition {
    /// The condition, to follow "waiting for".
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
