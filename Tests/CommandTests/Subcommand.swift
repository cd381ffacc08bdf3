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

    private static let recording = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Recordings/links.nlrec").path

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
