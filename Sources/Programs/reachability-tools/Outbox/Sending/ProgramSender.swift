import CommandLineSupport
import LinuxSupport
import ReachabilityOutbox
import ReachabilityRetry
import Subprocess
import SystemPackage

/// Sends with a program of the user's: the request is on its standard input in the form of HTTP/1.1 with an absolute URL (RFC
/// 9112, section 3.2.2), and its exit status says what came of it.
struct ProgramSender: OutboxSender {
    let program: Program
    let limit: Duration

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        let request = delivery.request
        var text = "\(request.method) \(request.url) HTTP/1.1\r\n"
        for header in request.headers { text += "\(header.name): \(header.value)\r\n" }
        text += "Content-Length: \(request.body.count)\r\n"
        let message = Array((text + "\r\n").utf8) + request.body
        return await withTaskGroup(of: OutboxResult?.self) { group in
            group.addTask { await run(message) }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            var result: OutboxResult?
            for await ended in group {
                // Whichever comes first, the other is to end: a program that is cancelled is told to.
                group.cancelAll()
                if let ended { result = ended }
            }
            return result ?? .retry(after: nil, cause: "\(program.name) did not end in time")
        }
    }

    private func run(_ message: [UInt8]) async -> OutboxResult {
        do {
            let input = try MemoryFile(message).opened()
            let result = try await Subprocess.run(
                program.executable,
                platformOptions: .ended,
                input: .fileDescriptor(input, closeAfterSpawningProcess: true),
                output: .currentStandardError,
                error: .currentStandardError
            )
            switch result.terminationStatus {
            case .exited(0): return .delivered
            case .exited(65): return .rejected(reason: "exit status 65")
            case .exited(let code): return .retry(after: nil, cause: "exit status \(code)")
            case .signaled(let signal): return .retry(after: nil, cause: "ended by signal \(signal)")
            }
        } catch let error as SubprocessError {
            return program.couldNotRun(error)
        } catch {
            return program.couldNotHold(error)
        }
    }
}

extension MemoryFile {
    /// The file opened anew, read-only and from its beginning: a standard input that may be left unread. Writing to a pipe that
    /// nobody reads any more ends swift-subprocess 1.0 with a fatal error.
    func opened() throws -> FileDescriptor {
        try .open(FilePath("/proc/self/fd/\(descriptor)"), .readOnly, options: .closeOnExec)
    }
}
