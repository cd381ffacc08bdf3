package import ArgumentParser

/// A program that `reachability` executes for some of its subcommands, because the libraries that they need would make all others
/// several times as large, and slower to start.
package struct CompanionProgram: Hashable, Sendable {
    /// Its file, without a directory.
    package let name: String

    /// The subcommand of `reachability` whose subcommands it does; nil if it does subcommands of `reachability` itself.
    private let group: String?

    /// It is linked with event loops, a TLS library and a database.
    package static let tools = CompanionProgram(name: "reachability-tools", group: nil)

    /// It is linked with libmosquitto, too, which not every system has.
    package static let fleet = CompanionProgram(name: "reachability-fleet", group: "fleet")

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
