import Foundation
import Testing

/// A subcommand, an ordinary use of it, and how it ends: what is true of every subcommand is tested on this list.
struct Subcommand: Sendable, CustomTestStringConvertible {
    let name: String
    /// Arguments with which it prints something at once, if it ever does, and whatever the network is like.
    var arguments = ["127.0.0.1"]
    /// Whether it writes to standard output itself.
    var prints = true
    /// Arguments with which it prints more than a pipe holds, so that it is found at work; empty when there are none.
    var manyArguments: [String] = []
    /// Whether it goes on until it is told to end, with status 0.
    var stays = false

    static let all = everywhere + fleet

    private static let everywhere = [
        Subcommand(name: "watch", manyArguments: ["--json"] + ManyHosts.all, stays: true),
        Subcommand(name: "status", manyArguments: ["--json"] + ManyHosts.all),
        Subcommand(name: "why"),
        Subcommand(name: "check"),
        Subcommand(name: "wait", arguments: ["--json", "127.0.0.1"]),
        Subcommand(name: "run", arguments: ["--", "true"], prints: false, stays: true),
        Subcommand(name: "retry", arguments: ["--", "true"], prints: false),
        Subcommand(name: "list", arguments: []),
        // What becomes of its output does not end it.
        Subcommand(name: "record", prints: false, stays: true),
        Subcommand(name: "replay", arguments: [recording]),
        // A service goes on whatever becomes of its output.
        Subcommand(
            name: "serve",
            arguments: ["--listen", "127.0.0.1:0", "--socket", "none", "--history", "none"],
            prints: false,
            stays: true
        ),
        Subcommand(name: "serve token", arguments: []),
        // They need a service: their outputs are tested with one.
        Subcommand(name: "outages", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "availability", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "report", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "note", arguments: ["--socket", "/nowhere", "text"], prints: false),
        Subcommand(name: "maintenance", arguments: ["--socket", "/nowhere", "work"], prints: false),
        Subcommand(name: "check-now", arguments: ["--socket", "/nowhere", "erp"], prints: false),
        // It prints nothing: what it makes is tested with a server.
        Subcommand(name: "download", arguments: ["--output", "/nowhere/a", "http://127.0.0.1:1/"], prints: false),
        Subcommand(name: "outbox", arguments: []),
        Subcommand(name: "outbox add", arguments: SharedOutbox.arguments + ["--drop-oldest", "http://127.0.0.1/"]),
        // The rest print nothing when there is nothing: their outputs are tested where there is.
        Subcommand(name: "outbox list", arguments: SharedOutbox.arguments, prints: false),
        Subcommand(name: "outbox flush", arguments: SharedOutbox.arguments + ["--with", "true"], prints: false),
        Subcommand(name: "outbox requeue", arguments: SharedOutbox.arguments + ["--all"], prints: false),
        Subcommand(name: "outbox drop", arguments: SharedOutbox.arguments + ["--all"], prints: false),
        // They need a server: their outputs are tested with one.
        Subcommand(name: "pin", arguments: ["127.0.0.1:1"], prints: false),
        Subcommand(name: "trust", arguments: ["127.0.0.1:1"], prints: false),
        Subcommand(name: "fleet", arguments: []),
        // They need a hub: their outputs are tested with one.
        Subcommand(name: "fleet devices", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "fleet incidents", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "fleet forget", arguments: ["--socket", "/nowhere", "d"], prints: false),
        // They need an authority: their outputs are tested with one.
        Subcommand(name: "fleet enroll", arguments: ["--device", "d", "--directory", "/dev/null"], prints: false),
        Subcommand(name: "fleet ca", arguments: []),
        Subcommand(name: "fleet ca init", arguments: ["/dev/null"], prints: false),
        Subcommand(name: "fleet ca sign", arguments: ["/nowhere", "/nowhere"], prints: false),
        Subcommand(name: "fleet ca revoke", arguments: ["/nowhere", "d"], prints: false),
        Subcommand(name: "fleet ca list", arguments: ["/nowhere"], prints: false),
    ]

    // Without the trait the program says that it is built without it.
    #if Fleet
    private static let fleet = [
        Subcommand(
            name: "fleet agent",
            arguments: [
                "--broker", "mqtt://127.0.0.1:1", "--site", "s", "--device", "d", "--socket", "/nowhere", "--state",
                "none",
            ],
            prints: false,
            stays: true
        ),
        Subcommand(
            name: "fleet hub",
            arguments: [
                "--broker", "mqtt://127.0.0.1:1", "--listen", "127.0.0.1:0", "--socket", "none", "--history", "none",
            ],
            prints: false,
            stays: true
        ),
    ]
    #else
    private static let fleet = [
        Subcommand(name: "fleet agent", prints: false), Subcommand(name: "fleet hub", prints: false),
    ]
    #endif

    private static let recording = Checkout.path("Tests/Recordings/links.nlrec")

    static var printing: [Subcommand] { all.filter(\.prints) }

    static var busy: [Subcommand] { all.filter { !$0.manyArguments.isEmpty } }

    var testDescription: String { name }

    /// `outbox` and `add`, for example.
    var words: [String] { name.split(separator: " ").map(String.init) }

    /// What a signal makes of it: an exit status, or minus the number of the signal.
    func status(after signal: CInt) -> CInt {
        stays && [SIGINT, SIGTERM].contains(signal) ? 0 : -signal
    }

    /// The command line for a shell in which `$R` is the binary.
    var script: String { "$R \(name) \(arguments.joined(separator: " "))" }
}

/// So many hosts that their lines do not fit into a pipe.
enum ManyHosts {
    static let all = (1...250).flatMap { ["127.0.0.\($0)", "127.0.1.\($0)"] }
}

/// An outbox for what is true of every subcommand, whatever is in it; gone when the tests have ended.
enum SharedOutbox {
    private static let directory = "/tmp/outbox-\(getpid())"

    static let arguments: [String] = {
        mkdir(directory, 0o700)
        atexit { try? FileManager.default.removeItem(atPath: directory) }
        let file = ["--outbox", "\(directory)/outbox"]
        // Only `add` makes it.
        _ = try? Command.start(["outbox", "add"] + file + ["http://127.0.0.1/"]).wait()
        return file
    }()
}

/// What the binary says of its own subcommands and their options.
struct CommandTree: Decodable {
    let command: Node

    struct Node: Decodable, Sendable, CustomTestStringConvertible {
        let commandName: String
        let discussion: String?
        let subcommands: [Node]?
        let arguments: [Argument]?
        /// What is written after `reachability` to have it.
        private(set) var path: [String] = []

        private enum CodingKeys: CodingKey {
            case commandName, discussion, subcommands, arguments
        }

        /// The path as one text: `outbox add`.
        var name: String { path.joined(separator: " ") }
        var testDescription: String { name }

        /// All below it, without `help`.
        var descendants: [Node] {
            (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { node in
                var node = node
                node.path = path + [node.commandName]
                return [node] + node.descendants
            }
        }

        /// The paragraph of help that begins so, without that beginning.
        func paragraph(_ beginning: String) -> String? {
            guard let discussion, let start = discussion.firstRange(of: beginning)?.upperBound else { return nil }
            let lines = discussion[start...].split(separator: "\n", omittingEmptySubsequences: false)
            let next = lines.dropFirst().firstIndex { $0.firstMatch(of: #/^[A-Z][a-z ]+: /#) != nil } ?? lines.endIndex
            return lines[..<next].joined(separator: "\n")
        }
    }

    struct Argument: Decodable, Sendable {
        let kind: String
        let valueName: String
        let preferredName: Name?

        struct Name: Decodable, Sendable {
            let kind: String
            let name: String
        }

        /// As it is written: `--settle`.
        var option: String? { preferredName.map { ($0.kind == "long" ? "--" : "-") + $0.name } }
    }

    /// Asks the binary.
    static func read() async throws -> Node {
        let result = try await Command.run(["--experimental-dump-help"])
        #expect(result.status == 0)
        return try JSONDecoder().decode(CommandTree.self, from: Data(result.output.utf8)).command
    }

    /// The subcommands and what is below them, without `help`.
    static func subcommands() async throws -> [Node] {
        try await read().descendants
    }
}

/// The pages of `docs/cli`. `README.md` contains the tables of exit statuses, signals and variables.
struct CommandDocument {
    let text: String

    init() throws {
        text = try Checkout.text("docs/cli/README.md")
    }

    /// The text of the page of a subcommand, such as `outbox add`.
    func page(of subcommand: String) throws -> String {
        try Checkout.text("docs/cli/\(subcommand.split(separator: " ").joined(separator: "-")).md")
    }

    /// The text of `README.md` below a heading of the second level.
    func section(_ heading: String) throws -> Substring {
        let start = try #require(text.firstRange(of: "\n## \(heading)\n"), "there is no section \(heading)").upperBound
        return text[start...].prefix(upTo: text[start...].firstRange(of: "\n## ")?.lowerBound ?? text.endIndex)
    }

    /// The first cells of the rows of a section's table that are about a subcommand.
    func keys(_ heading: String, of subcommand: String) throws -> [String] {
        try section(heading).split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().compactMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells[1] == "all" || cells[1].contains("`\(subcommand)`") ? cells[0] : nil
        }
    }
}
