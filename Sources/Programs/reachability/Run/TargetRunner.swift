import CommandLineSupport
import Logging
import NetworkReachability

/// Runs programs for the changes of one target, never two at once.
struct TargetRunner: Sendable {
    let target: TargetOptions.Target
    /// The name of the network namespace that is asked in; nil for the current one.
    let namespace: String?
    let policy: SettlePolicy
    let decision: RunDecision
    let plan: RunPlan
    let runner: ProgramRunner
    let logger: Logger?

    /// Runs until the task is cancelled; what is running then is told to end, and waited for.
    func run() async {
        // Read only while nothing runs: the newest state is kept, and what came and went in between is not.
        let (paths, continuation) = AsyncStream.makeStream(of: NetworkPath.self, bufferingPolicy: .bufferingNewest(1))
        let token = target.manager.addPathListener(for: .status, settle: policy, onQueue: nil) { path in
            continuation.yield(path)
        }
        var decision = decision
        for await path in paths {
            guard let change = decision.take(path) else {
                logger?.debug("nothing to run", metadata: ["target": "\(target.name ?? "network")", "path": "\(path)"])
                continue
            }
            let environment = RunEnvironment(target: target.name, namespace: namespace, change: change)
            for program in await plan.programs where !Task.isCancelled {
                await runner.run(program, for: environment.target, environment.environment)
            }
        }
        token.cancel()
    }
}

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
