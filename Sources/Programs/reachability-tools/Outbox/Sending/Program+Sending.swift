import CommandLineSupport
import ReachabilityOutbox
import Subprocess

extension Program {
    /// Says why it was not run, which is no attempt.
    func couldNotRun(_ error: SubprocessError) -> OutboxResult {
        .held(cause: "cannot run \(name): \(failure(error).cause); install it, or name another program with --with")
    }
}

extension Program {
    /// Says that there was no room to hand the request over.
    func couldNotHold(_ error: any Error) -> OutboxResult {
        .held(cause: "cannot hold the request in memory: \(error)")
    }
}

extension PlatformOptions {
    /// A program that is told to end gets SIGTERM, and SIGKILL five seconds later.
    static var ended: PlatformOptions {
        var options = PlatformOptions()
        options.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: .seconds(5))]
        return options
    }
}
