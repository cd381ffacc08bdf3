import ArgumentParser
import CommandLineSupport
import Glibc
import Logging
import NetworkReachability

/// The hosts, and the options of a query.
struct TargetOptions: ParsableArguments {
    typealias Target = (name: String?, manager: NetworkReachabilityManager)

    // Hidden for space, because the usage line shows it.
    @Argument(help: .rare("Names or addresses (default: the network at large).", "host"))
    var hosts: [String] = []

    @OptionGroup var namespaceOptions: NamespaceOptions

    @OptionGroup var egress: EgressOptions

    @Option(help: ArgumentHelp("The firewall mark of packets: 51966 or 0xcafe.", valueName: "mark"))
    var mark: FirewallMark?

    @Flag(help: "Print one JSON object per line (schema 1).")
    var json = false

    @Flag(name: .shortAndLong, help: "Log events and decisions to standard error.")
    var verbose = false

    @Flag(help: .rare("Process all route messages, not only relevant ones."))
    var noFilter = false

    /// The value of `--netns`.
    var netns: String? { namespaceOptions.name }

    func makeTargets() throws -> [Target] {
        try makeOptions().makeTargets(hosts)
    }

    /// The logger of `--verbose`.
    var logger: Logger? { makeOptions(in: .current).logger }

    func makeTargets(in namespace: NetworkNamespace) throws(NetworkReachabilityError) -> [Target] {
        try makeOptions(in: namespace).makeTargets(hosts)
    }

    func makeOptions() throws(ExitMessage) -> NetworkReachabilityOptions {
        makeOptions(in: try namespaceOptions.namespace)
    }

    private func makeOptions(in namespace: NetworkNamespace) -> NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions(in: namespace, mark, verbose: verbose)
        egress.apply(to: &options)
        options.filtersRouteMessages = !noFilter
        return options
    }
}

/// The options of `run` and `retry`.
struct HookOptions: ParsableArguments {
    @OptionGroup var namespaceOptions: NamespaceOptions

    @Option(help: ArgumentHelp("The firewall mark of packets: 51966 or 0xcafe.", valueName: "mark"))
    var mark: FirewallMark?

    @Flag(name: .shortAndLong, help: "Log events and decisions to standard error.")
    var verbose = false

    func makeOptions() throws(ExitMessage) -> NetworkReachabilityOptions {
        NetworkReachabilityOptions(in: try namespaceOptions.namespace, mark, verbose: verbose)
    }
}

extension NetworkReachabilityOptions {
    /// Creates the options of a monitor.
    ///
    /// - Parameter verbose: Whether events and decisions are logged to standard error.
    init(in namespace: NetworkNamespace, _ mark: FirewallMark?, verbose: Bool = false) {
        self.init()
        networkNamespace = namespace
        firewallMark = mark?.value ?? 0
        guard verbose else { return }
        var logger = Logger(label: "reachability") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .debug
        self.logger = logger
    }

    /// Creates a manager for each host, or one for the network at large, with the name to print.
    func makeTargets(_ hosts: [String]) throws(NetworkReachabilityError) -> [TargetOptions.Target] {
        if hosts.isEmpty { return [(nil, try NetworkReachabilityManager(options: self))] }
        var targets: [TargetOptions.Target] = []
        for host in hosts { targets.append((host, try NetworkReachabilityManager(host: host, options: self))) }
        return targets
    }
}
