package import ArgumentParser

/// What a subcommand may be told that another program does, and its help: the same to `reachability`, which parses it and tells of
/// it, and to that program.
package protocol CompanionArguments: ParsableArguments {
    /// Name, help and usage.
    static var configuration: CommandConfiguration { get }

    /// Who does it.
    static var program: CompanionProgram { get }
}
