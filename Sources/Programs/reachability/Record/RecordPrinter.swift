import CommandLineSupport
import Glibc
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// Prints the lines of a recording. A failure of standard output does not end the recording.
final class RecordPrinter: Sendable {
    private struct State {
        var hasEnded = false
        var failure: ExitMessage?
    }

    private let output: WatchOutput
    private let namespace: String?
    private let state: Locked<State> = Locked(State())

    init(_ output: WatchOutput, namespace: String?) {
        self.output = output
        self.namespace = namespace
    }

    func write(_ host: String?, _ path: NetworkPath, at moment: RecordedMoment) {
        if state.withLock({ $0.hasEnded }) { return }
        let line = output.text(PathLine(target: host, namespace: namespace, path: path), at: Timestamp(moment))
        do {
            try StandardStream.write(line + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
        } catch {
            let failure =
                error.isClosedPipe ? nil : ExitMessage("cannot write to standard output: \(error.text)", .ioError)
            if let failure { StandardError.write("reachability: \(failure.text); the recording goes on") }
            state.withLock { $0 = State(hasEnded: true, failure: failure) }
        }
    }

    /// Throws the first error of standard output, except that of a reader that has closed the pipe.
    func finish() throws(ExitMessage) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}

extension Timestamp {
    init(_ moment: RecordedMoment) {
        self.init(real: moment.real, monotonic: moment.monotonic)
    }
}
