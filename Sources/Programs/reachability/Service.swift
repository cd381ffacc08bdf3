import ArgumentParser
import CommandLineSupport
import LinuxSupport

/// `reachability outages`: prints the outages that a service recorded.
struct Outages: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outages",
        abstract: "Print the recorded outages, latest first.",
        usage: "reachability outages [<options>]",
        discussion: """
            Examples: reachability outages
                      reachability outages --since 7d --open --json
            Exit status: 0 printed, 64 usage error, 69 no service, 74 output error, 77 no
            permission.

            The command queries `reachability serve`. --socket or --url names another
            service.
            """
    )

    @Option(help: ArgumentHelp("Print only outages of this target.", valueName: "name"))
    var target: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Print only outages since this time, or since 24h ago.", valueName: "time")
    )
    var since: PastArgument?

    @Option(number: "The maximum number of outages.")
    var limit: Int?

    @Flag(help: "Print only outages that have not ended.")
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

/// `reachability availability`: prints the shares of time in each state.
struct Availability: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "availability",
        abstract: "Print the availability of the targets of a service.",
        usage: "reachability availability [<options>]",
        discussion: """
            Examples: reachability availability
                      reachability availability --window 24h --json
            Exit status: 0 printed, 64 usage error, 69 no service, 74 output error, 77 no
            permission.

            Time without observation is not counted. Percentages are never rounded up.
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The period up to now.", valueName: "duration")
    )
    var window = DurationArgument(argument: "30d")

    @Option(help: ArgumentHelp("Print only this target.", valueName: "name"))
    var target: String?

    @OptionGroup var options: ServiceOptions

    func run() throws {
        let window = DurationText.text(try window.value)
        let query = [("window", window)] + (target.map { [("target", $0)] } ?? [])
        try ServiceClient(options).printList("/v1/availability", query)
    }
}

/// `reachability statement`: lists the outages of one party in a month.
struct Statement: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statement",
        abstract: "List the outages of one party in a month.",
        usage: "reachability statement [<options>]",
        discussion: """
            Examples: reachability statement --month 2026-10
                      reachability statement --month 2026-10 --format html > october.html
            Exit status: 0 printed, 64 usage error, 69 no service, 74 output error, 77 no
            permission.

            The month begins in the time zone of the service. The checksum in the output is
            that of the output of --format csv.
            """
    )

    enum Party: String, ExpressibleByArgument, CaseIterable { case us, upstream, them }
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, csv, html }

    @Option(help: ArgumentHelp("The month (default: the current one).", valueName: "YYYY-MM"))
    var month: String?

    @Option(help: ArgumentHelp("This machine, the provider or the targets.", valueName: "party"))
    var party = Party.upstream

    @Option(help: ArgumentHelp("Print only outages of this target.", valueName: "name"))
    var target: String?

    @Option(help: ArgumentHelp("The output format.", valueName: "format"))
    var format = Format.text

    @OptionGroup var options: ServiceOptions

    func run() throws {
        var query = [("party", party.rawValue)]
        if let month { query.append(("month", month)) }
        if let target { query.append(("target", target)) }
        query.append(("format", options.json ? "json" : format.rawValue))
        let text = query.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        let client = try ServiceClient(options)
        // The digest is that of the unchanged rows.
        if format == .text, !options.json { return try client.printOne("/v1/statement?\(text)") }
        try client.printDocument("/v1/statement?\(text)")
    }
}

/// `reachability report`: explains an outage.
struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Explain an outage: its time, place and cause.",
        usage: "reachability report [<options>] [<outage>]",
        discussion: """
            Examples: reachability report
                      reachability report --json dn2wpp5q2ytg-1xb3dqs
            Exit status: 0 printed, 64 usage error or unknown outage, 69 no service, 74
            output error, 77 no permission.
            """
    )

    @Argument(help: ArgumentHelp("The id that `outages` prints.", valueName: "outage"))
    var outage = "latest"

    @OptionGroup var options: ServiceOptions

    func run() throws {
        try ServiceClient(options).printOne("/v1/outages/\(outage.percentEncoded)")
    }
}

/// `reachability note`: writes a note about an outage.
struct Note: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Write a note about an outage.",
        usage: "reachability note [<options>] <text>",
        discussion: """
            Examples: reachability note "The cleaners pulled the plug."
                      reachability note --outage dn2wpp5q2ytg-1xb3dqs "Ticket 4711."
            Exit status: 0 written, 64 usage error or unknown outage, 69 no service, 74
            output error, 77 no permission.

            Only root, the service's user and members of the group reachability may write a
            note. Over HTTP, a token with the scope admin is required.
            """
    )

    @Argument(help: ArgumentHelp("The note: 1 to 2,000 characters.", valueName: "text"))
    var text: String

    @Option(help: ArgumentHelp("The id that `outages` prints.", valueName: "outage"))
    var outage = "latest"

    @OptionGroup var options: ServiceOptions

    func run() throws {
        var body = JSONObject()
        body.add("text", text)
        try ServiceClient(options).change("POST", "/v1/outages/\(outage.percentEncoded)/note", body)
    }
}

/// `reachability maintenance`: prints, announces or ends planned work.
struct Maintenance: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "maintenance",
        abstract: "Print, announce or end planned work.",
        usage: "reachability maintenance [<options>] [<name>]",
        discussion: """
            Examples: reachability maintenance switch --for 2h --target erp
                      reachability maintenance switch --end
            Exit status: 0 done, 64 usage error or unknown work, 69 no service, 74 output
            error, 77 no permission.

            Planned work does not count as an outage, and no notification is sent. Only
            root, the service's user and members of the group reachability may announce it.
            Over HTTP, a token with the scope admin is required.
            """
    )

    @Argument(help: ArgumentHelp("The name of the work. Without it, all announced work is printed.", valueName: "name"))
    var name: String?

    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: ArgumentHelp("Announce work of this duration.", valueName: "duration")
    )
    var length: DurationArgument?

    @Option(help: ArgumentHelp("The start of the work, RFC 3339 (default: now).", valueName: "time"))
    var from: String?

    @Option(
        name: .customLong("target"),
        help: ArgumentHelp("An affected target (default: all); repeatable.", valueName: "name")
    )
    var targets: [String] = []

    @Flag(help: "End the work now, or cancel it before its start.")
    var end = false

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        if name == nil, length != nil || end { throw ValidationError("--for and --end require a name.") }
        if length != nil, end { throw ValidationError("Give --for or --end, not both.") }
        guard length != nil || from == nil && targets.isEmpty else {
            throw ValidationError("--from and --target require --for.")
        }
    }

    func run() throws {
        let client = try ServiceClient(options)
        guard let name else { return try client.printList("/v1/maintenance") }
        let path = "/v1/maintenance/\(name.percentEncoded)"
        if end { return try client.change("DELETE", path) }
        guard let length else { return try client.printOne(path) }
        var body = JSONObject()
        body.add("for", DurationText.text(try length.value))
        if let from { body.add("from", from) }
        if !targets.isEmpty { body.add("targets", targets) }
        try client.change("PUT", path, body)
    }
}

/// `reachability check-now`: makes a service check a target outside its schedule.
struct CheckNow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-now",
        abstract: "Request an immediate check of a target.",
        usage: "reachability check-now [<options>] <target>",
        discussion: """
            Examples: reachability check-now erp
                      reachability check-now --json internet
            Exit status: 0 check started, 64 usage error, unknown target or target without
            checks, 69 no service, 74 output error, 75 checked within the last second, 77
            no permission.

            Only root, the service's user and members of the group reachability may start a
            check. Over HTTP, a token with the scope admin is required.
            """
    )

    @Argument(help: ArgumentHelp("The name of the target.", valueName: "target"))
    var target: String

    @OptionGroup var options: ServiceOptions

    func run() throws {
        try ServiceClient(options).change("POST", "/v1/targets/\(target.percentEncoded)/check")
    }
}
