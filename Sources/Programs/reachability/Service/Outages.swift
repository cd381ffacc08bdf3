import ArgumentParser
import CommandLineSupport
import LinuxPrimitives

/// `reachability outages`: what a service has seen.
struct Outages: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outages",
        abstract: "Print the outages a service has seen, latest first.",
        usage: "reachability outages [<options>]",
        discussion: """
            Examples: reachability outages
                      reachability outages --json --target internet
            Exit status: 0 printed, 64 usage, 69 no service, 74 output, 77 no permission.

            A service is `reachability serve`; it is asked over its Unix socket.
            """
    )

    @Option(help: ArgumentHelp("Of this target alone.", valueName: "name"))
    var target: String?

    @OptionGroup var options: ServiceOptions

    func run() throws {
        let query = target.map { "&target=\($0.percentEncoded)" } ?? ""
        try ServiceClient(options).printList("/v1/outages?limit=1000\(query)")
    }
}

/// `reachability availability`: how the time was spent.
struct Availability: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "availability",
        abstract: "Print how the time of a service's targets was spent.",
        usage: "reachability availability [<options>]",
        discussion: """
            Examples: reachability availability
                      reachability availability --window 24h --json
            Exit status: 0 printed, 64 usage, 69 no service, 74 output, 77 no permission.

            What was not observed counts for nobody. Percentages are never rounded up.
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How far back.", valueName: "duration")
    )
    var window = DurationArgument(argument: "30d")

    @Option(help: ArgumentHelp("Of this target alone.", valueName: "name"))
    var target: String?

    @OptionGroup var options: ServiceOptions

    func run() throws {
        let query = target.map { "&target=\($0.percentEncoded)" } ?? ""
        let window = DurationText.text(try window.value)
        try ServiceClient(options).printList("/v1/availability?limit=1000&window=\(window)\(query)")
    }
}

/// `reachability report`: one outage, explained.
struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Explain an outage: when, whose fault, and why.",
        usage: "reachability report [<options>] [<outage>]",
        discussion: """
            Examples: reachability report
                      reachability report --json dn2wpp5q2ytg-1xb3dqs
            Exit status: 0 printed, 64 usage or no such outage, 69 no service, 74 output,
            77 no permission.
            """
    )

    @Argument(help: ArgumentHelp("Its id, as `outages` prints it; the latest otherwise.", valueName: "outage"))
    var outage = "latest"

    @OptionGroup var options: ServiceOptions

    func run() throws {
        try ServiceClient(options).printOne("/v1/outages/\(outage.percentEncoded)")
    }
}
