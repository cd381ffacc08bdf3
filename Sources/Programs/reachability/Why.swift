import ArgumentParser
import CommandLineSupport
import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// `reachability why`: prints the chain of evidence from the name to the verdict.
struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain step by step why a host is reachable or not.",
        usage: "reachability why [<host>] [<options>]",
        discussion: """
            Examples: reachability why example.org
                      reachability why --json 2001:db8::1 | jq .remedy
            Exit status: 0 reachable, 1 not reachable, 2 unknown, 64 usage error, 74 output
            error, 77 no permission.

            The first broken step is marked, and its remedy is printed.
            """
    )

    @Argument(help: "A name or an address (default: the network at large).")
    var host: String?

    @OptionGroup var namespaceOptions: NamespaceOptions

    @Option(help: ArgumentHelp("The firewall mark of packets: 51966 or 0xcafe.", valueName: "mark"))
    var mark: FirewallMark?

    @OptionGroup var egress: EgressOptions

    @Flag(help: "Continue with probes, like `reachability check`.")
    var active = false

    @Flag(help: "Print one JSON object (schema 1).")
    var json = false

    func run() throws {
        if active { try becomeCheck() }
        let evidence = try makeManager().evidence(over: egress.family)
        if json {
            StandardOutput.write(
                EvidenceObject(evidence: evidence, target: host, namespace: namespaceOptions.name).bytes
            )
        } else {
            for step in evidence.steps {
                for line in StepText(step, of: evidence).lines { StandardOutput.write(line) }
            }
        }
        switch evidence.path.status {
        case .reachable: break
        case .notReachable: throw ExitCode(1)
        case .unknown: throw ExitCode(2)
        }
    }

    private func becomeCheck() throws(ExitMessage) -> Never {
        var line = CheckLine(host.map { [$0] } ?? [], namespaceOptions, json: json)
        line.add("--mark", mark.map { "\($0.value)" })
        line.add("--interface", egress.interface)
        line.add("--family", egress.family.map { $0 == .ipv4 ? "4" : "6" })
        try CompanionProgram.tools.become(["check"] + line.words)
    }

    private func makeManager() throws -> NetworkReachabilityManager {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = try namespaceOptions.namespace
        options.firewallMark = mark?.value ?? 0
        egress.apply(to: &options)
        guard let host else { return try NetworkReachabilityManager(options: options) }
        return try NetworkReachabilityManager(host: host, options: options)
    }
}
