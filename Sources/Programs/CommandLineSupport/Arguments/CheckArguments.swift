package import ArgumentParser

/// The arguments of `reachability check`.
package struct CheckArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find where the network is broken, with a few probes.",
        usage: "reachability check [<target> ...] [<options>]",
        discussion: """
            Examples: reachability check; reachability check https://example.org/
            Exit status: 0 works, 2 inconclusive, 3 degraded; fault at 10 this machine, 11
            link, 12 gateway, 13 upstream, 14 DNS, 15 captive portal, 16 host, 17 TLS, 18
            service; 64 usage error, 65 invalid file, 66 cannot read file, 69 not
            installed, 74 output error, 77 no permission.

            Without targets, the internet is checked.
            """
    )

    // Hidden because the usage line shows it. The manual page lists all options, also hidden ones.
    @Argument(help: .rare("The targets: hosts, HOST:PORT or URLs. Without targets, the internet is checked.", "target"))
    package var targets: [String] = []

    @OptionGroup package var active: ActiveOptions

    @Option(
        name: .customLong("dns"),
        help: .rare("The DNS server to query instead of the configured ones; repeatable.", "address")
    )
    package var servers: [String] = []

    @Option(
        name: .customLong("expect-address"),
        help: .rare("NAME=ADDRESS: the answer that DNS must give; repeatable.", "pair")
    )
    package var expectations: [String] = []

    @Option(help: .rare("The URL of the captive portal API (RFC 8908).", "url"))
    package var portalApi: String?

    @Option(
        help: .rare("The policy file for TLS servers, with pins for example.", "file"),
        completion: .file()
    )
    package var policy: String?

    @Option(help: .rare("Send only over this interface or VRF.", "name"))
    package var interface: String?

    @Option(help: .rare("The source address of probes.", "address"))
    package var source: String?

    @Option(help: .rare("Send only over IPv4 or IPv6: 4 or 6.", "family"))
    package var family: String?

    @Option(help: .rare("The firewall mark of probes.", "mark"))
    package var mark: FirewallMark?

    @OptionGroup package var namespaceOptions: NamespaceOptions

    @Option(
        parsing: .unconditional,
        help: .rare("The time after which a round starts no more probes.", "duration")
    )
    package var timeout = DurationArgument(argument: "3.4s")

    @Flag(name: .customLong("private"), help: "Probe only the local network (gateway, DNS servers).")
    package var isPrivate = false

    @Flag(help: "Print the probes and their destinations; send nothing.")
    package var explainTraffic = false

    @Flag(help: "Exit with the status of `status`: 0, 1 or 2.")
    package var simple = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of rounds; 0 repeats until interrupted.", valueName: "number")
    )
    package var count = 1

    @Option(
        parsing: .unconditional,
        help: .rare("The time between the starts of two rounds.", "duration")
    )
    package var interval = DurationArgument(argument: "10s")

    @Option(help: "Read targets from a file, one per line; - is stdin.", completion: .file())
    package var file: String?

    @Option(
        parsing: .unconditional,
        help: .rare("The maximum rate of started targets per second.", "number")
    )
    package var rate = 200

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    @Option(help: ArgumentHelp("Print for nagios, checkmk or a node_exporter textfile.", valueName: "format"))
    package var output: CheckFormat?

    package init() {}

    package func validate() throws {
        try check("--count", count, in: 0...1_000_000_000)
        try check("--rate", rate, in: 1...1_000_000)
        if output != nil, count != 1 || json || simple || explainTraffic {
            throw ValidationError("--output excludes --count, --json, --simple and --explain-traffic.")
        }
        if let family, family != "4", family != "6" { throw ValidationError("--family takes 4 or 6.") }
        if isPrivate, !targets.isEmpty || file != nil {
            throw ValidationError("--private sends probes only to the local network: omit the targets.")
        }
        if isPrivate, !active.anchors.isEmpty {
            throw ValidationError("--private sends probes only to the local network: omit --anchor.")
        }
    }
}

/// The output format of a monitoring system.
package enum CheckFormat: String, ExpressibleByArgument, CaseIterable {
    case nagios, checkmk, textfile
}

/// The options that `watch --check` and `wait --works` have too.
package struct ActiveOptions: ParsableArguments {
    @Option(
        name: .customLong("anchor"),
        help: ArgumentHelp("Your own URL as proof of internet access; repeatable.", valueName: "url")
    )
    package var anchors: [String] = []

    @Option(
        name: .customLong("resolve"),
        help: .rare("NAME=ADDRESS: use this address and do not query DNS; repeatable.", "pair")
    )
    package var resolutions: [String] = []

    package init() {}

    package var isEmpty: Bool { anchors.isEmpty && resolutions.isEmpty }
}

/// A firewall mark in the notation of `ip rule`: decimal, or hexadecimal after `0x`.
package struct FirewallMark: ExpressibleByArgument {
    package let value: UInt32

    package init?(argument: String) {
        let isHexadecimal = argument.hasPrefix("0x") || argument.hasPrefix("0X")
        let digits = isHexadecimal ? String(argument.dropFirst(2)) : argument
        guard let value = UInt32(digits, radix: isHexadecimal ? 16 : 10) else { return nil }
        self.value = value
    }
}
