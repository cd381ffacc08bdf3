import ArgumentParser
import Glibc
import Logging
import NetworkReachability

/// What is asked about, and how.
struct TargetOptions: ParsableArguments {
    @Argument(help: "Names or addresses; none means the network at large.")
    var hosts: [String] = []

    @Option(help: ArgumentHelp("The network namespace to ask in, as `ip netns` names it.", valueName: "name"))
    var netns: String?

    @Option(help: ArgumentHelp("The firewall mark packets will carry, decimal or 0x hexadecimal.", valueName: "mark"))
    var mark: FirewallMark?

    @Flag(help: "Print one JSON object per line (schema 1).")
    var json = false

    @Flag(name: .shortAndLong, help: "Log to standard error what is heard and decided.")
    var verbose = false

    /// One manager for each host, or one for the network at large, with the name it is printed under.
    func makeTargets() throws -> [(name: String?, manager: NetworkReachabilityManager)] {
        var options = NetworkReachabilityOptions()
        if let netns {
            guard !netns.isEmpty, !netns.contains("/"), netns != ".", netns != ".." else {
                throw ExitMessage("\"\(netns)\" is no name of a network namespace", .usage)
            }
            options.networkNamespace = .named(netns)
        }
        options.firewallMark = mark?.value ?? 0
        if verbose {
            var logger = Logger(label: "reachability") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .debug
            options.logger = logger
        }
        do {
            if hosts.isEmpty { return [(nil, try NetworkReachabilityManager(options: options))] }
            return try hosts.map { ($0, try NetworkReachabilityManager(host: $0, options: options)) }
        } catch let error as NetworkReachabilityError {
            throw ExitMessage(error)
        }
    }
}
