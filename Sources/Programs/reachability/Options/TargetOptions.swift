import ArgumentParser
import CommandLineSupport
import Glibc
import Logging
import NetworkReachability

/// What is asked about, and how.
struct TargetOptions: ParsableArguments {
    typealias Target = (name: String?, manager: NetworkReachabilityManager)

    // Told by the usage; so the help fits a screen.
    @Argument(
        help: ArgumentHelp(
            "Names or addresses; none means the network at large.",
            valueName: "host",
            visibility: .hidden
        )
    )
    var hosts: [String] = []

    @OptionGroup var namespaceOptions: NamespaceOptions

    @OptionGroup var egress: EgressOptions

    @Option(help: ArgumentHelp("The firewall mark packets will carry: 51966, 0xcafe.", valueName: "mark"))
    var mark: FirewallMark?

    @Flag(help: "Print one JSON object per line (schema 1).")
    var json = false

    @Flag(name: .shortAndLong, help: "Log to standard error what is heard and decided.")
    var verbose = false

    @Flag(help: ArgumentHelp("Hear of every route change, not only of those that matter.", visibility: .hidden))
    var noFilter = false

    /// What `--netns` says.
    var netns: String? { namespaceOptions.name }

    /// One manager for each host, or one for the network at large, with the name it is printed under.
    func makeTargets() throws -> [Target] {
        let namespace = try makeOptions().networkNamespace
        do {
            return try makeTargets(in: namespace)
        } catch {
            throw ExitMessage(error)
        }
    }

    /// How to ask, and where.
    func makeOptions() throws(ExitMessage) -> NetworkReachabilityOptions {
        makeOptions(in: try namespaceOptions.namespace)
    }

    private func makeOptions(in namespace: NetworkNamespace) -> NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = namespace
        options.firewallMark = mark?.value ?? 0
        egress.apply(to: &options)
        options.logger = makeLogger()
        options.filtersRouteMessages = !noFilter
        return options
    }

    /// The same in any namespace.
    func makeTargets(in namespace: NetworkNamespace) throws(NetworkReachabilityError) -> [Target] {
        let options = makeOptions(in: namespace)
        if hosts.isEmpty { return [(nil, try NetworkReachabilityManager(options: options))] }
        var targets: [Target] = []
        for host in hosts { targets.append((host, try NetworkReachabilityManager(host: host, options: options))) }
        return targets
    }

    /// A logger to standard error, where one is wanted.
    func makeLogger() -> Logger? {
        guard verbose else { return nil }
        var logger = Logger(label: "reachability") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .debug
        return logger
    }
}
