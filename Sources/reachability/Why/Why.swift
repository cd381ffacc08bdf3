import ArgumentParser
import NetworkReachability

/// `reachability why`: the chain of evidence, from the name to the verdict.
struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Tell step by step why a host can be reached, or why not.",
        discussion: """
            The first step that is broken is marked, with what would mend it. \
            Exit status: 0 reachable, 1 not reachable, 2 unknown.

              reachability why example.org
              reachability why --json 2001:db8::1 | jq .remedy
            """
    )

    @Argument(help: "A name or an address; none means the network at large.")
    var host: String?

    @Option(help: ArgumentHelp("The network namespace to ask in, as `ip netns` names it.", valueName: "name"))
    var netns: String?

    @Option(help: ArgumentHelp("The firewall mark packets will carry, decimal or 0x hexadecimal.", valueName: "mark"))
    var mark: FirewallMark?

    @Flag(help: "Print one JSON object (schema 1).")
    var json = false

    func run() throws {
        let evidence = try makeManager().evidence()
        if json {
            StandardOutput.write(EvidenceObject(evidence: evidence, target: host, namespace: netns).bytes)
        } else {
            for line in EvidenceText(evidence).lines { StandardOutput.write(line) }
        }
        switch evidence.path.status {
        case .reachable: break
        case .notReachable: throw ExitCode(1)
        case .unknown: throw ExitCode(2)
        }
    }

    private func makeManager() throws -> NetworkReachabilityManager {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = try NetworkNamespace(argument: netns)
        options.firewallMark = mark?.value ?? 0
        do {
            guard let host else { return try NetworkReachabilityManager(options: options) }
            return try NetworkReachabilityManager(host: host, options: options)
        } catch {
            throw ExitMessage(error)
        }
    }
}
