package import ArgumentParser

/// `reachability check`.
package struct CheckArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Send a few packets, and tell where it breaks.",
        usage: "reachability check [<target> ...] [<options>]",
        discussion: """
            Examples: reachability check; reachability check https://example.org/
            Exit status: 0 works, 2 inconclusive, 3 degraded, 10 this machine, 11 link, 12
            gateway, 13 upstream, 14 DNS, 15 portal, 16 host, 17 TLS, 18 service, 64 usage,
            65 bad file, 66 no file, 69 not installed, 74 output failed, 77 no permission.
            """
    )

    // Hidden, like rare options, so that the help fits a screen. The usage shows it, and the manual page has all options.
    @Argument(
        help: ArgumentHelp(
            "Hosts, host:port or URLs; none means the internet.",
            valueName: "target",
            visibility: .hidden
        )
    )
    package var targets: [String] = []

    @Option(
        name: .customLong("anchor"),
        help: ArgumentHelp("A URL of yours that proves the internet; repeatable.", valueName: "url")
    )
    package var anchors: [String] = []

    @Option(
        name: .customLong("dns"),
        help: ArgumentHelp("Ask this DNS server; repeatable.", valueName: "address", visibility: .hidden)
    )
    package var servers: [String] = []

    @Option(
        name: .customLong("resolve"),
        help: ArgumentHelp("NAME=ADDRESS: never ask DNS for it; repeatable.", valueName: "pair", visibility: .hidden)
    )
    package var resolutions: [String] = []

    @Option(
        name: .customLong("expect-address"),
        help: ArgumentHelp("NAME=ADDRESS: DNS must say so; repeatable.", valueName: "pair", visibility: .hidden)
    )
    package var expectations: [String] = []

    @Option(
        help: ArgumentHelp("The network's own server of captivity (RFC 8908).", valueName: "url", visibility: .hidden)
    )
    package var portalApi: String?

    @Option(
        help: ArgumentHelp("What TLS servers must show: pins, for example.", valueName: "file", visibility: .hidden),
        completion: .file()
    )
    package var policy: String?

    @Option(help: ArgumentHelp("Send over this interface or VRF only.", valueName: "name", visibility: .hidden))
    package var interface: String?

    @Option(help: ArgumentHelp("Send from this address.", valueName: "address", visibility: .hidden))
    package var source: String?

    @Option(help: ArgumentHelp("Send over IPv4 or IPv6 only: 4 or 6.", valueName: "family", visibility: .hidden))
    package var family: String?

    @Option(help: ArgumentHelp("The firewall mark of packets.", valueName: "mark", visibility: .hidden))
    package var mark: FirewallMark?

    @OptionGroup package var namespaceOptions: NamespaceOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("When a round ends.", valueName: "duration", visibility: .hidden)
    )
    package var timeout = DurationArgument(argument: "3.4s")

    @Flag(name: .customLong("private"), help: "Contact nobody but the network itself.")
    package var isPrivate = false

    @Flag(help: "Tell what would be sent to whom, and send nothing.")
    package var explainTraffic = false

    @Flag(help: "Exit with 0, 1 or 2 as status does.")
    package var simple = false

    @Option(parsing: .unconditional, help: ArgumentHelp("Check so often, for ever with 0.", valueName: "number"))
    package var count = 1

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("So long from check to check.", valueName: "duration", visibility: .hidden)
    )
    package var interval = DurationArgument(argument: "10s")

    @Option(help: "Targets, one a line; - is standard input.", completion: .file())
    package var file: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Targets a second.", valueName: "number", visibility: .hidden)
    )
    package var rate = 200

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    package init() {}

    package func validate() throws {
        try check("--count", count, in: 0...1_000_000_000)
        try check("--rate", rate, in: 1...1_000_000)
        if let family, family != "4", family != "6" { throw ValidationError("--family is 4 or 6.") }
        if isPrivate, !targets.isEmpty || file != nil {
            throw ValidationError("--private contacts nobody but the network: leave the target out.")
        }
        if isPrivate, !anchors.isEmpty {
            throw ValidationError("--private contacts nobody but the network: leave --anchor out.")
        }
    }
}

/// A firewall mark as `ip rule` writes it: decimal, or hexadecimal after 0x.
package struct FirewallMark: ExpressibleByArgument {
    package let value: UInt32

    package init?(argument: String) {
        let isHexadecimal = argument.hasPrefix("0x") || argument.hasPrefix("0X")
        let digits = isHexadecimal ? String(argument.dropFirst(2)) : argument
        guard let value = UInt32(digits, radix: isHexadecimal ? 16 : 10) else { return nil }
        self.value = value
    }
}
