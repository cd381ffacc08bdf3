import ArgumentParser
import CommandLineSupport
import LinuxSupport

/// `reachability outages`: the outages of a service.
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

/// `reachability availability`: the shares of time.
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

/// `reachability note`: a note about an outage.
struct Note: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Write a note about an outage.",
        usage: "reachability note [<options>] <text>",
        discussion: """
            Examples: reachability note "The cleaners pulled the plug."
                      reachability note --outage dn2wpp5q2ytg-1xb3dqs "Ticket 4711."
            Exit status: 0 written, 64 usage or no such outage, 69 no service, 74 output,
            77 no permission.

            Root, the service's own user and members of the group reachability may. Over
            HTTP it needs a token of the scope admin.
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

/// `reachability maintenance`: the planned work that counts for no party.
struct Maintenance: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "maintenance",
        abstract: "Print, announce or end planned work.",
        usage: "reachability maintenance [<options>] [<name>]",
        discussion: """
            Examples: reachability maintenance switch --for 2h --target erp
                      reachability maintenance switch --end
            Exit status: 0 done, 64 usage or no such work, 69 no service, 74 output, 77 no
            permission.

            Time of planned work counts for no party, and no notification is sent. Root,
            the service's own user and members of the group reachability may announce it.
            Over HTTP it needs a token of the scope admin.
            """
    )

    @Argument(help: ArgumentHelp("The name of the work. Without it, all announced work is printed.", valueName: "name"))
    var name: String?

    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: ArgumentHelp("Announce it: how long it takes.", valueName: "duration")
    )
    var length: DurationArgument?

    @Option(help: ArgumentHelp("When it begins (RFC 3339), if not now.", valueName: "time"))
    var from: String?

    @Option(
        name: .customLong("target"),
        help: ArgumentHelp("A target that it affects, if not all; repeatable.", valueName: "name")
    )
    var targets: [String] = []

    @Flag(help: "End it now, or take it back.")
    var end = false

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        if name == nil, length != nil || end { throw ValidationError("Give the work a name.") }
        if length != nil, end { throw ValidationError("Give --for or --end, not both.") }
        if length == nil, from != nil || !targets.isEmpty { throw ValidationError("--from and --target need --for.") }
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

/// `reachability check-now`: a check outside the schedule.
struct CheckNow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-now",
        abstract: "Let a service check a target now.",
        usage: "reachability check-now [<options>] <target>",
        discussion: """
            Examples: reachability check-now erp
                      reachability check-now --json internet
            Exit status: 0 the check begins, 64 usage, no such target, or one that cannot
            be checked, 69 no service, 74 output, 75 checked within the last second, 77 no
            permission.

            Root, the service's own user and members of the group reachability may. Over
            HTTP it needs a token of the scope admin.
            """
    )

    @Argument(help: ArgumentHelp("The name of the target.", valueName: "target"))
    var target: String

    @OptionGroup var options: ServiceOptions

    func run() throws {
        try ServiceClient(options).change("POST", "/v1/targets/\(target.percentEncoded)/check")
    }
}
