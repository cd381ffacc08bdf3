import ArgumentParser
import CommandLineSupport

/// A subcommand that another program does: parsed here, so that help, completions and refusals are those of every subcommand.
struct CompanionPart<Arguments: CompanionArguments>: ParsableCommand {
    static var configuration: CommandConfiguration { Arguments.configuration }

    @OptionGroup var arguments: Arguments

    func run() throws(ExitMessage) {
        // What was understood here is given on as it was written.
        try Arguments.program.become(Arguments.program.arguments(of: CommandLine.arguments))
    }
}
