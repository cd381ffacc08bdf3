import Foundation
import Testing

/// A subcommand with typical arguments and its end. The tests of all subcommands use this list.
struct Subcommand: Sendable, CustomTestStringConvertible {
    let name: String
    /// Arguments with which the subcommand prints something immediately in any network, if it ever does.
    var arguments = ["127.0.0.1"]
    /// True if it writes to standard output itself.
    var prints = true
    /// Arguments with which it prints more than a pipe holds, so that it is observed at work; empty if there are none.
    var manyArguments: [String] = []
    /// True if it runs until it is ended, with status 0.
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
        // A closed output does not end the command.
        Subcommand(name: "record", prints: false, stays: true),
        Subcommand(name: "replay", arguments: [recording]),
        // A closed output does not end a service.
        Subcommand(
            name: "serve",
            arguments: ["--listen", "127.0.0.1:0", "--socket", "none", "--history", "none"],
            prints: false,
            stays: true
        ),
        Subcommand(name: "serve token", arguments: []),
        // These need a service. Their outputs are tested with one.
        Subcommand(name: "outages", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "availability", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "statement", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "report", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "note", arguments: ["--socket", "/nowhere", "text"], prints: false),
        Subcommand(name: "maintenance", arguments: ["--socket", "/nowhere", "work"], prints: false),
        Subcommand(name: "check-now", arguments: ["--socket", "/nowhere", "erp"], prints: false),
        // It prints nothing. Its result is tested with a server.
        Subcommand(name: "download", arguments: ["--output", "/nowhere/a", "http://127.0.0.1:1/"], prints: false),
        Subcommand(name: "outbox", arguments: []),
        Subcommand(name: "outbox add", arguments: SharedOutbox.arguments + ["--drop-oldest", "http://127.0.0.1/"]),
        // The others print nothing if the outbox is empty. Other tests check their outputs.
        Subcommand(name: "outbox list", arguments: SharedOutbox.arguments, prints: false),
        Subcommand(name: "outbox flush", arguments: SharedOutbox.arguments + ["--with", "true"], prints: false),
        Subcommand(name: "outbox requeue", arguments: SharedOutbox.arguments + ["--all"], prints: false),
        Subcommand(name: "outbox drop", arguments: SharedOutbox.arguments + ["--all"], prints: false),
        // These need a server. Their outputs are tested with one.
        Subcommand(name: "pin", arguments: ["127.0.0.1:1"], prints: false),
        Subcommand(name: "trust", arguments: ["127.0.0.1:1"], prints: false),
        Subcommand(name: "fleet", arguments: []),
        // These need a hub. Their outputs are tested with one.
        Subcommand(name: "fleet devices", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "fleet incidents", arguments: ["--socket", "/nowhere"], prints: false),
        Subcommand(name: "fleet forget", arguments: ["--socket", "/nowhere", "d"], prints: false),
        // These need an authority. Their outputs are tested with one.
        Subcommand(name: "fleet enroll", arguments: ["--device", "d", "--directory", "/dev/null"], prints: false),
        Subcommand(name: "fleet ca", arguments: []),
        Subcommand(name: "fleet ca init", arguments: ["/dev/null"], prints: false),
        Subcommand(name: "fleet ca sign", arguments: ["/nowhere", "/nowhere"], prints: false),
        Subcommand(name: "fleet ca revoke", arguments: ["/nowhere", "d"], prints: false),
        Subcommand(name: "fleet ca list", arguments: ["/nowhere"], prints: false),
    ]

    // Without the trait, the program reports that it was built without it.
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

    /// The words of the subcommand, for example `outbox` and `add`.
    var words: [String] { name.split(separator: " ").map(String.init) }

    /// Returns the end after a signal: an exit status, or the negative number of the signal.
    func status(after signal: CInt) -> CInt {
        stays && [SIGINT, SIGTERM].contains(signal) ? 0 : -signal
    }

    /// The command line for a shell in which `$R` is the binary.
    var script: String { "$R \(name) \(arguments.joined(separator: " "))" }
}

/// Hosts whose lines do not fit into a pipe.
enum ManyHosts {
    static let all = (1...250).flatMap { ["127.0.0.\($0)", "127.0.1.\($0)"] }
}

/// An outbox with any content for the tests of all subcommands. Removed when the tests have ended.
enum SharedOutbox {
    private static let directory = "/tmp/outbox-\(getpid())"

    static let arguments: [String] = {
        mkdir(directory, 0o700)
        atexit { try? FileManager.default.removeItem(atPath: directory) }
        let file = ["--outbox", "\(directory)/outbox"]
        // Only `add` creates the outbox.
        _ = try? Command.start(["outbox", "add"] + file + ["http://127.0.0.1/"]).wait()
        return file
    }()
}

/// The binary's own description of its subcommands and options.
struct CommandTree: Decodable {
    let command: Node

    struct Node: Decodable, Sendable, CustomTestStringConvertible {
        let commandName: String
        let discussion: String?
        let subcommands: [Node]?
        let arguments: [Argument]?
        /// The words after `reachability`.
        private(set) var path: [String] = []

        private enum CodingKeys: CodingKey {
            case commandName, discussion, subcommands, arguments
        }

        /// The words as one text: `outbox add`.
        var name: String { path.joined(separator: " ") }
        var testDescription: String { name }

        /// All commands below this one, without `help`.
        var descendants: [Node] {
            (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { node in
                var node = node
                node.path = path + [node.commandName]
                return [node] + node.descendants
            }
        }

        /// Returns the paragraph of the help that begins with a text, without that text.
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

        /// The option as written on the command line: `--settle`.
        var option: String? { preferredName.map { ($0.kind == "long" ? "--" : "-") + $0.name } }
    }

    /// Reads the description from the binary.
    static func read() async throws -> Node {
        let result = try await Command.run(["--experimental-dump-help"])
        #expect(result.status == 0)
        return try JSONDecoder().decode(CommandTree.self, from: Data(result.output.utf8)).command
    }

    /// Returns all subcommands at all levels, without `help`.
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

    /// Returns the text of the page of a subcommand, such as `outbox add`.
    func page(of subcommand: String) throws -> String {
        try Checkout.text("docs/cli/\(subcommand.split(separator: " ").joined(separator: "-")).md")
    }

    /// Returns the text of `README.md` below a heading of the second level.
    func section(_ heading: String) throws -> Substring {
        let start = try #require(text.firstRange(of: "\n## \(heading)\n"), "there is no section \(heading)").upperBound
        return text[start...].prefix(upTo: text[start...].firstRange(of: "\n## ")?.lowerBound ?? text.endIndex)
    }

    /// Returns the first cells of the rows of a section's table that mention a subcommand.
    func keys(_ heading: String, of subcommand: String) throws -> [String] {
        try section(heading).split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().compactMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells[1] == "all" || cells[1].contains("`\(subcommand)`") ? cells[0] : nil
        }
    }
}
