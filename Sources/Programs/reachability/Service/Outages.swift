import ArgumentParser
import CommandLineSupport
import LinuxSupport

/// `reachability outages`: what a service has seen.
struct Outages: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outages",
        abstract: "Print the outages a service has seen, latest first.",
        usage: "reachability outages [<options>]",
        discussion: """
            Examples: reachability outages
                      reachability outages --since 7d --open --json
            Exit status: 0 printed, 64 usage, 69 no service, 74 output, 77 no permission.

            A service is `reachability serve`. --socket or --url names another one.
            """
    )

    @Option(help: ArgumentHelp("Print only outages of this target.", valueName: "name"))
    var target: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Print only outages that lasted until after: 24h, or a time.", valueName: "time")
    )
    var since: PastArgument?

    @Option(parsing: .unconditional, help: ArgumentHelp("The maximum number of outages.", valueName: "number"))
    var limit: Int?

    @Flag(help: "Print only outages that last.")
    var open = false

    @OptionGroup var options: ServiceOptions

    func validate() throws { try check("--limit", limit) }

    func run() throws {
        var query = target.map { [("target", $0)] } ?? []
        if let since { query.append(("from", Timestamp(real: try since.real(before: SystemClock.real)).text)) }
        if open { query.append(("state", "open")) }
        try ServiceClient(options).printList("/v1/outages", query, limit: limit ?? .max)
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
        let window = DurationText.text(try window.value)
        let query = [("window", window)] + (target.map { [("target", $0)] } ?? [])
        try ServiceClient(options).printList("/v1/availability", query)
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
