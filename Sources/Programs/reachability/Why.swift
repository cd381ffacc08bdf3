import ArgumentParser
import CommandLineSupport
import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// `reachability why`: the chain of evidence, from the name to the verdict.
struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Tell step by step why it can be reached, or why not.",
        usage: "reachability why [<host>] [<options>]",
        discussion: """
            Examples: reachability why example.org
                      reachability why --json 2001:db8::1 | jq .remedy
            Exit status: 0 reachable, 1 not reachable, 2 unknown, 64 usage, 74 output
            failed, 77 no permission.

            The first step that is broken is marked, with what would mend it.
            """
    )

    @Argument(help: "A name or an address; none means the network at large.")
    var host: String?

    @OptionGroup var namespaceOptions: NamespaceOptions

    @Option(help: ArgumentHelp("The firewall mark packets will carry: 51966, 0xcafe.", valueName: "mark"))
    var mark: FirewallMark?

    @OptionGroup var egress: EgressOptions

    @Flag(help: "Go on with packets, as reachability check does.")
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
