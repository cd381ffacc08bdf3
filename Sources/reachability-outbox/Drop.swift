import ArgumentParser
import CommandLineSupport
import ReachabilityOutbox

/// `reachability outbox drop`: requests that shall not be sent.
struct Drop: AsyncParsableCommand {
    static let configuration = OutboxDropArguments.configuration

    @OptionGroup var arguments: OutboxDropArguments

    func run() async throws {
        let missing = try await arguments.outbox.withExisting { outbox in
            var missing: [Int64] = []
            for id in arguments.all ? try await outbox.entries().map(\.id) : arguments.ids {
                if try await outbox.drop(id) {
                    StandardOutput.write(Array("\(id)".utf8))
                } else if !arguments.all {
                    missing.append(id)
                }
            }
            return missing
        }
        for id in missing { StandardError.write("reachability: there is no request \(id)") }
        if !missing.isEmpty { throw ExitCode(1) }
    }
}
