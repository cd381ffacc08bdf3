import NetworkLab

/// An outbox file of its own, and what the command says about it, with TIME for each time.
final class OutboxScratch: Sendable {
    let directory: ScratchDirectory
    var file: String { directory.file("outbox") }

    init() throws {
        directory = try ScratchDirectory()
    }

    /// Runs `reachability outbox` on the file, after what the script says.
    func run(
        _ arguments: String,
        after script: String = "",
        in namespace: LabNamespace? = nil
    ) async throws -> CommandResult {
        let words = arguments.split(separator: " ", maxSplits: 1)
        let rest = words.count > 1 ? " \(words[1])" : ""
        let result = try await Command.run(
            script: "cd \(directory.path); \(script)\n$R outbox \(words[0]) --outbox \(file)\(rest)",
            in: namespace
        )
        let time = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#
        return CommandResult(
            status: result.status,
            output: result.output.replacing(time, with: "TIME"),
            errors: result.errors.replacing(directory.path, with: "DIR")
        )
    }
}
