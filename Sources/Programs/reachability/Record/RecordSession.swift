import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// The file, the recorder and the targets of a recording in progress.
struct RecordSession {
    private let path: String
    private let file: RecordingFile
    private let recorder: Recorder
    private let targets: RecordedTargets
    private let limit: SizeLimit

    /// The maximum size of the file, and whether it was reached.
    private struct SizeLimit {
        let bytes: Int
        let wasReached: Locked<Bool> = Locked(false)
    }

    /// Creates the file and opens the sockets.
    init(
        _ path: String,
        _ options: TargetOptions,
        limit bytes: Int,
        redacts: Bool,
        replaces: Bool
    ) throws {
        let limit = SizeLimit(bytes: bytes)
        self.limit = limit
        self.path = path
        let settings = try options.makeOptions()
        let header = RecordingHeader(
            hosts: options.hosts,
            namespace: options.netns,
            options: settings,
            version: ReachabilityCommand.configuration.version
        )
        let redactor = redacts ? Redactor() : nil
        let least = Recorder.leastLimit(header, redactor: redactor)
        guard bytes >= least else {
            throw ExitMessage("--limit \(bytes) has no room for a recording: \(least) bytes is the least", .usage)
        }
        do throws(SystemError) {
            file = try RecordingFile(path, replacing: replaces) { Self.end() }
        } catch {
            let advice = error == .fileExists ? "; --force replaces it" : ""
            throw ExitMessage("cannot make \(path): \(error)\(advice)", .cantCreate)
        }
        recorder = Recorder(
            header,
            limit: bytes,
            redactor: redactor,
            reachedLimit: {
                limit.wasReached.withLock { $0 = true }
                Self.end()
            },
            write: { [file] in file.write($0) }
        )
        do throws(NetworkReachabilityError) {
            let live = try MonitorEnvironment(of: settings, tap: recorder)
            targets = try RecordedTargets(options.hosts, in: recorder.environment(live), options: settings)
        } catch {
            throw ExitMessage(error)
        }
    }

    /// Adds a listener to all targets. `listener` runs on the monitor's queue.
    func begin(
        _ interest: NetworkReachabilityInterest,
        _ listener: @escaping @Sendable (String?, NetworkPath, RecordedMoment) -> Void
    ) throws -> [NetworkReachabilityToken] {
        var tokens: [NetworkReachabilityToken] = []
        recorder.begin(on: targets.monitor.queue) {
            tokens = targets.listen(for: interest) { [recorder] host, path in
                listener(host, path, recorder.moment())
            }
        }
        return tokens
    }

    /// Ends the wait for a signal in the main thread.
    static func end() {
        kill(getpid(), SIGTERM)
    }

    /// Writes the statistics to standard error.
    func report() {
        StandardError.write("reachability: \(targets.monitor.statistics)")
    }

    /// Removes the listeners and completes the file.
    ///
    /// - Parameter tokens: The result of ``begin(_:_:)``.
    /// - Throws: ``ExitMessage`` if a part of the file could not be written.
    func finish(_ tokens: [NetworkReachabilityToken]) throws(ExitMessage) {
        // Between two turns of the queue, so that what was printed is what was recorded.
        targets.monitor.queue.sync {
            recorder.finish()
            for token in tokens { token.cancel() }
        }
        do throws(SystemError) {
            try file.finish()
        } catch {
            let done = "its first \(file.size) bytes can be replayed"
            throw ExitMessage("cannot write \(path): \(error); \(done)", .ioError)
        }
        if limit.wasReached.withLock({ $0 }) {
            StandardError.write("reachability: \(path) has reached its limit of \(limit.bytes) bytes")
        }
    }
}
