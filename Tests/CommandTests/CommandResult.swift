import Testing

/// What is left of a run of the command.
struct CommandResult: Sendable, Equatable {
    /// The exit status, or minus the number of the signal that ended it.
    let status: CInt
    let output: String
    let errors: String

    /// What was written to standard error, with TIME for how long programs took.
    var errorsWithoutDurations: String { errors.replacing(#/ after \d+\.\d{3}s/#, with: " after TIME") }

    var lines: [Substring] { output.split(separator: "\n") }

    /// Expects a refusal: one sentence on standard error, nothing on standard output, and that exit status.
    func expectRefusal(_ sentence: String, status: CInt = 64, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            self == CommandResult(status: status, output: "", errors: "reachability: \(sentence)\n"),
            sourceLocation: sourceLocation
        )
    }
}
