import ArgumentParser
import CommandLineSupport

/// A subcommand of `reachability outbox`, which that other program does.
struct OutboxPart<Arguments: OutboxArguments>: ParsableCommand {
    static var configuration: CommandConfiguration { Arguments.configuration }

    @OptionGroup var arguments: Arguments

    func run() throws(ExitMessage) {
        // What was understood here is given on as it was written.
        try OutboxProgram.become(
            Array(CommandLine.arguments.drop { $0 != Outbox.configuration.commandName }.dropFirst())
        )
    }
}
