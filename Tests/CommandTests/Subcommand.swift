import Glibc
import Testing

/// A subcommand, an ordinary use of it, and how it ends: what is true of every subcommand is tested on this list.
struct Subcommand: Sendable, CustomTestStringConvertible {
    let name: String
    /// Arguments with which it prints something at once, and whatever the network is like.
    var arguments = ["127.0.0.1"]
    /// Arguments with which it prints more than a pipe holds, so that it is found at work.
    var manyArguments = ["--json"] + ManyHosts.all
    /// Whether it goes on until it is told to end, with status 0.
    var stays = false

    static let all = [
        Subcommand(name: "watch", stays: true),
        Subcommand(name: "status"),
    ]

    var testDescription: String { name }

    /// What a signal makes of it: an exit status, or minus the number of the signal.
    func status(after signal: CInt) -> CInt {
        stays && [SIGINT, SIGTERM].contains(signal) ? 0 : -signal
    }

    /// The command line for a shell in which `$R` is the binary.
    var script: String { "$R \(name) \(arguments.joined(separator: " "))" }
}
