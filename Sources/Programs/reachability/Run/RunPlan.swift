import CommandLineSupport

/// What is run for a change.
enum RunPlan: Sendable {
    case command(Program)
    case hooks(HookDirectory)

    /// The programs, as they are now, in their order.
    var programs: [Program] {
        get async {
            switch self {
            case .command(let program): [program]
            case .hooks(let directory): await directory.hooks()
            }
        }
    }
}
