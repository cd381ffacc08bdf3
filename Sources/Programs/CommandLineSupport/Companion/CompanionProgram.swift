package import ArgumentParser

/// A program that lies beside `reachability` and does some of its subcommands: what it is linked with would make all others several
/// times as large, and slower to start.
package struct CompanionProgram: Hashable, Sendable {
    /// Its file, without a directory.
    package let name: String

    /// The subcommand of `reachability` whose subcommands it does; nil if it does subcommands of `reachability` itself.
    private let group: String?

    /// Its database brings Foundation.
    package static let outbox = CompanionProgram(name: "reachability-outbox", group: "outbox")

    /// It brings a TLS library.
    package static let trust = CompanionProgram(name: "reachability-trust", group: nil)

    /// It brings event loops and a TLS library.
    package static let check = CompanionProgram(name: "reachability-check", group: nil)

    /// It brings event loops and a database.
    package static let serve = CompanionProgram(name: "reachability-serve", group: nil)

    /// It is linked with libmosquitto, which is not everywhere.
    package static let fleet = CompanionProgram(name: "reachability-fleet", group: "fleet")

    /// It brings event loops and a TLS library.
    package static let download = CompanionProgram(name: "reachability-download", group: nil)

    /// What it is to be given, as it was written.
    ///
    /// - Parameter commandLine: That of `reachability`, with its name.
    package func arguments(of commandLine: [String]) -> [String] {
        guard let group else { return Array(commandLine.dropFirst()) }
        return Array(commandLine.drop { $0 != group }.dropFirst())
    }
}

/// What a subcommand may be told that another program does, and its help: the same to `reachability`, which parses it and tells of
/// it, and to that program.
package protocol CompanionArguments: ParsableArguments {
    /// Name, help and usage.
    static var configuration: CommandConfiguration { get }

    /// Who does it.
    static var program: CompanionProgram { get }
}
