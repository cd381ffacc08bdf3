import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityHTTP
import ReachabilityRequests
import ReachabilityRetry

/// What ends a download from outside: SIGINT, SIGTERM and the deadline. What is here stays, to be gone on with.
///
/// C counterpart: `signal(7)`.
final class DownloadEnd {
    private enum Cause { case signal(CInt), deadline }

    private let cause: Locked<Cause?>
    private let sources: SignalSources
    private let clock: Task<Void, Never>?

    /// - Parameters:
    ///   - deadline: From now on; nil for none.
    ///   - cancel: Ends it.
    init(deadline: Duration?, _ cancel: @escaping @Sendable () -> Void) {
        let cause = Locked<Cause?>(nil)
        self.cause = cause
        let end: @Sendable (Cause) -> Void = { new in
            cause.withLock { cause in if cause == nil { cause = new } }
            cancel()
        }
        sources = SignalSources([SIGINT, SIGTERM]) { end(.signal($0)) }
        clock = deadline.map { deadline in
            Task {
                do { try await Task.sleep(for: deadline) } catch { return }
                end(.deadline)
            }
        }
    }

    deinit { clock?.cancel() }

    /// What the program ends with, once it was told why.
    func told(of response: DownloadResponse, at path: String) -> any Error {
        let size = FileName.size(of: "\(path).part") ?? 0
        var hint = size > 0 ? ": \(ByteText.text(size)) are here, the same command goes on with them" : ""
        // What it waited after; an attempt that was under way says nothing.
        if let last = response.metrics.attempts.last, last.reason != nil, let error = last.error {
            hint += "; the last error was: \(FailureWords.text(error).printable)"
        }
        switch cause.withLock({ $0 }) {
        case .deadline?: return ExitMessage("time is up\(hint)", .temporaryFailure)
        case .signal(let number)?:
            StandardError.write("reachability: ended by a signal\(hint)")
            return ExitCode(128 + number)
        case nil: return ExitMessage("the download was cancelled\(hint)", .temporaryFailure)
        }
    }
}
