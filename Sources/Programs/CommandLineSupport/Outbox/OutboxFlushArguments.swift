package import ArgumentParser
import LinuxSupport

/// `reachability outbox flush`.
package struct OutboxFlushArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Send what can be sent now, and print what came of it.",
        usage: "reachability outbox flush [<options>]",
        discussion: """
            Examples: reachability outbox flush
                      reachability outbox flush --with /usr/local/bin/send-signed
            Exit status: 0 nothing is left, 64 usage, 65 one was refused or expired, or the
            file is corrupt, 66 no file, 74 disk, 75 something is left or is being sent.

            Sends by itself, through the proxy of https_proxy and http_proxy, or with a
            program, which gets the request on its standard input and ends with 0 for
            delivered, 65 for never, any other status for later.
            """
    )

    @Option(
        help: ArgumentHelp("A program that sends each request.", valueName: "program"),
        completion: .file()
    )
    package var with: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long one request may take; 60s otherwise.", valueName: "duration")
    )
    package var timeout: DurationArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give a request up after so many; 1000 otherwise.", valueName: "number")
    )
    package var attempts: Int?

    @Option(
        help: ArgumentHelp(
            "What shows that a success is the server's own: status=N, header=NAME: VALUE or body=TEXT.",
            valueName: "answer"
        )
    )
    package var expect: String?

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        try check("--attempts", attempts)
        if expect != nil, with != nil { throw ValidationError("--expect is for sending without --with.") }
        // It was the default, and got its settings in a way of its own.
        if with?.split(at: "/").last == "curl" {
            throw ValidationError(
                "curl is not needed any more: leave --with out, or name a program that reads the request."
            )
        }
    }
}
