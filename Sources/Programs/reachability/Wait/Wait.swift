import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// `reachability wait`: blocks until the network is as it is wanted.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until the network is as wanted.",
        usage: "reachability wait [<host> ...] [<options>]",
        discussion: """
            Examples: reachability wait example.org --timeout 30s
                      reachability wait --interface eth0 --route 10.0.0.0/8 --stable 2s
            Exit status: 0 it is, 64 usage, 74 output failed, 75 time is up, 77 no
            permission, 130 SIGINT, 143 SIGTERM.
            """
    )

    // Told by the usage; so the help fits a screen.
    @Argument(
        help: ArgumentHelp(
            "Names or addresses; none means the network at large.",
            valueName: "host",
            visibility: .hidden
        )
    )
    var hosts: [String] = []

    @Flag(help: "All conditions at once, or any of them.")
    var quantifier: WaitQuantifier = .all

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up after so long: 500ms, 30s, 5m.", valueName: "duration")
    )
    var timeout: DurationArgument?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("What is wanted of hosts.", valueName: "goal")
    )
    var goal: NetworkCondition.Goal?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("For how long it has to be so without a break.", valueName: "duration")
    )
    var stable: DurationArgument?

    @Option(help: ArgumentHelp("The name resolves. May be repeated.", valueName: "name"))
    var dns: [String] = []

    @Option(help: ArgumentHelp("A usable route covers the prefix. May be repeated.", valueName: "prefix"))
    var route: [IPPrefix] = []

    @Option(
        name: .customLong("interface"),
        help: ArgumentHelp("The interface is usable. May be repeated.", valueName: "name"),
        completion: .custom { _, _, _ in EgressOptions.interfaceNames() }
    )
    var interfaces: [String] = []

    @Option(
        help: ArgumentHelp("The interface or VRF packets to hosts are bound to.", valueName: "name"),
        completion: .custom { _, _, _ in EgressOptions.interfaceNames() }
    )
    var over: String?

    // Hidden for want of a line: a screen has 24.
    @Flag(help: ArgumentHelp("Until a check says that hosts or URLs work, not the kernel.", visibility: .hidden))
    var works = false

    @OptionGroup var active: ActiveOptions

    @OptionGroup var namespaceOptions: NamespaceOptions

    @Flag(help: "Print how it ended as a JSON object (schema 1).")
    var json = false

    func validate() throws {
        guard works else {
            if active.isEmpty { return }
            throw ValidationError("--anchor and --resolve are for --works.")
        }
        if !route.isEmpty || !interfaces.isEmpty || goal != nil || stable != nil {
            throw ValidationError("--works is about hosts alone; with it, --dns names a server.")
        }
    }

    func run() throws {
        if works { try becomeCheck() }
        let (timeout, stable) = (try timeout?.value, try stable?.value ?? .zero)
        let conditions = try conditions()
        var signals = WaitSignals()
        var options = NetworkReachabilityOptions()
        options.networkNamespace = try namespaceOptions.namespace
        options.interface = over
        let output = WaitOutput(json: json, namespace: namespaceOptions.name, timeout: self.timeout?.text)
        let watcher: ConditionWatcher
        do throws(NetworkReachabilityError) {
            watcher = try ConditionWatcher(
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
        } catch {
            throw ExitMessage(error)
        }
        if stable <= .zero {
            // To listen costs more than to ask.
            let (states, holds) = watcher.ask()
            if holds { return output.write(states, hasTimedOut: false) }
        }
        watcher.start()
        let signal = signals.wait(atMost: timeout)
        if let signal { Glibc.exit(128 + signal) }
        let (states, holds) = watcher.ask()
        // It may be done at this very moment, on another thread, which then ends the process.
        guard watcher.cancel() else { while true { pause() } }
        // A change may have come with the end of time.
        let isInTime = holds && stable <= .zero
        output.write(states, hasTimedOut: !isInTime)
        if isInTime { return }
        output.complain(states, holds: holds, stable: self.stable?.text)
        throw ExitCode(ExitMessage.Status.temporaryFailure.rawValue)
    }

    private func becomeCheck() throws -> Never {
        var line = CheckLine(hosts, namespaceOptions, json: json)
        line.add("--interface", over)
        line.add(
            "--within",
            try timeout.map {
                _ = try $0.value; return $0.text
            }
        )
        line.add(active, servers: dns)
        if quantifier == .any { line.add("--any") }
        try CompanionProgram.tools.become(["until-works"] + line.words)
    }

    private func conditions() throws(ExitMessage) -> [NetworkCondition] {
        for name in interfaces where !InterfaceName.isValid(name) {
            throw ExitMessage("\"\(name.printable)\" is no name of an interface", .usage)
        }
        for name in dns where IPAddress(name) != nil {
            throw ExitMessage(
                "\(name.printable) is an address, and --dns waits for a name: did you mean: reachability wait \(name.printable)",
                .usage
            )
        }
        let others = dns.map(NetworkCondition.name) + route.map { .route($0) } + interfaces.map { .interface($0) }
        // A goal is one of something.
        let isAtLarge = hosts.isEmpty && (others.isEmpty || goal != nil)
        let targets: [String?] = isAtLarge ? [nil] : hosts
        return targets.map { .target($0, goal ?? .reachable) } + others
    }
}

/// How many of the conditions are to hold.
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
