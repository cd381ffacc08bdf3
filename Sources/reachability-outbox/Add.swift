import ArgumentParser
import CommandLineSupport
import ReachabilityOutbox

/// `reachability outbox add`: one request more.
struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a request in, and print its number.",
        usage: "reachability outbox add [<options>] <url>",
        discussion: """
            Of requests with the same --key one is kept. Other users see arguments: give
            secrets in a file of headers.
              reachability outbox add --key order-7 --body order.json https://example.org/
              reachability outbox add --method DELETE --headers a.txt https://example.org/7
            """
    )

    @Argument(help: "An absolute http or https URL.")
    var url: String

    @Option(help: ArgumentHelp("POST unless told otherwise.", valueName: "method"))
    var method = "POST"

    @Option(name: .customLong("header"), help: ArgumentHelp("\"Name: value\"; may be repeated.", valueName: "header"))
    var headers: [String] = []

    @Option(name: .customLong("headers"), help: ArgumentHelp("Headers in a file, one a line.", valueName: "file"))
    var headerFile: String?

    @Option(help: ArgumentHelp("The content, in a file; - is standard input.", valueName: "file"))
    var body: String?

    @Option(help: ArgumentHelp("A name of what the request does.", valueName: "key"))
    var key: String?

    @Option(help: ArgumentHelp("The higher, the sooner; 0 otherwise.", valueName: "number"))
    var priority = 0

    @Option(help: ArgumentHelp("Throw it away unsent after so long: 90s, 60m.", valueName: "duration"))
    var expires: DurationArgument?

    @Option(help: ArgumentHelp("How many may wait; 10000 otherwise.", valueName: "number"))
    var maxCount: Int?

    @Flag(help: "Let the oldest of the lowest priority make room.")
    var dropOldest = false

    @OptionGroup var outbox: FileOptions

    func run() async throws {
        var options = OutboxOptions()
        if let maxCount { options.maximumCount = maxCount }
        if dropOldest { options.whenFull = .dropOldest }
        let lines = try headerFile.map { try InputFile.text($0).split(separator: "\n").map(String.init) } ?? []
        let request = OutboxRequest(
            method,
            url,
            headers: try (lines + headers).map(Self.header),
            body: try body.map { try InputFile.bytes($0) } ?? []
        )
        let expiry = try expires?.value
        let addition = try await outbox.open(options)
            .enqueue(request, dedupeKey: key, priority: priority, expiry: expiry)
        let text =
            switch addition {
            case .added(let entry): "\(entry.id)"
            case .waiting(let entry): "\(entry.id) (already waiting)"
            case .delivered: "already delivered"
            }
        StandardOutput.write(Array(text.utf8))
    }

    private static func header(_ line: String) throws(ExitMessage) -> OutboxHeader {
        guard let colon = line.firstIndex(of: ":") else {
            throw ExitMessage("a header has no colon: write \"Name: value\"", .usage)
        }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        return OutboxHeader(String(line[..<colon]), String(value))
    }
}
