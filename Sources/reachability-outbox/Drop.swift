import ArgumentParser
import CommandLineSupport
import ReachabilityOutbox

/// `reachability outbox drop`: requests that shall not be sent.
struct Drop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete requests unsent.",
        usage: "reachability outbox drop [--file <path>] <id> ... | --all",
        discussion: """
            Prints the number of each that was deleted. Exit status 1 if one was not there.
              reachability outbox drop 12 13
              reachability outbox drop --all
            """
    )

    @Argument(help: "Numbers, as `list` has them.")
    var ids: [Int64] = []

    @Flag(help: "Delete all of them.")
    var all = false

    @OptionGroup var outbox: FileOptions

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Give numbers, or --all.") }
    }

    func run() async throws {
        let outbox = try await outbox.open()
        var missing: [Int64] = []
        for id in all ? try await outbox.entries().map(\.id) : ids {
            if try await outbox.drop(id) {
                StandardOutput.write(Array("\(id)".utf8))
            } else if !all {
                missing.append(id)
            }
        }
        for id in missing { StandardError.write("reachability: there is no request \(id)") }
        if !missing.isEmpty { throw ExitCode(1) }
    }
}
