import CommandLineSupport
import ReachabilityOutbox
import Subprocess

extension Program {
    /// Says why it was not run, which is no fault of the request.
    func couldNotRun(_ error: SubprocessError) -> OutboxResult {
        StandardError.write("reachability: cannot run \(name): \(failure(error).cause)")
        return .retry(after: nil)
    }
}

extension Program {
    /// Says that there was no room to hand the request over.
    func couldNotHold(_ error: any Error) -> OutboxResult {
        StandardError.write("reachability: cannot hold a request in memory: \(error)")
        return .retry(after: nil)
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
