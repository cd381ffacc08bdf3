import CommandLineSupport
import Glibc
import LinuxPrimitives
import ReachabilityOutbox
import Subprocess

/// Sends with curl(1), which knows TLS, proxies and HTTP/2 better than we would; a process for each request.
struct CurlSender: OutboxSender {
    let program: Program
    let limit: Duration

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        do {
            // Settings and body cannot share the standard input; this file is in memory, and goes with us.
            let body = delivery.request.body.isEmpty ? nil : try MemoryFile(delivery.request.body)
            let path = body.map { "/proc/\(getpid())/fd/\($0.descriptor)" }
            let configuration = CurlConfiguration(request: delivery.request, bodyPath: path, limit: limit)
            let settings = try MemoryFile(Array(configuration.text.utf8)).opened()
            let result = try await Subprocess.run(
                program.executable,
                // The first keeps the user's own settings out.
                arguments: ["--disable", "--config", "-"],
                platformOptions: .ended,
                input: .fileDescriptor(settings, closeAfterSpawningProcess: true),
                output: .string(limit: 4096),
                error: .currentStandardError
            )
            withExtendedLifetime(body) {}
            return judge(result.terminationStatus, result.standardOutput, delivery.entry)
        } catch let error as SubprocessError {
            return program.couldNotRun(error)
        } catch {
            return program.couldNotHold(error)
        }
    }

    private func judge(_ status: TerminationStatus, _ output: String, _ entry: OutboxEntry) -> OutboxResult {
        // The answer, the proxy's status to CONNECT, and curl's own words for a failure.
        let lines = output.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let connect = lines.count > 1 ? Int(lines[1]) ?? 0 : 0
        let words = lines.count > 2 ? String(lines[2]) : ""
        switch status {
        case .exited(0):
            // The status, a blank, and Retry-After, which may have blanks in it.
            let answer = lines.first ?? ""
            let code = answer.prefix { $0 != " " }
            return OutboxResult(
                status: Int(code) ?? 0,
                retryAfter: String(answer.dropFirst(code.count + 1)),
                attempts: entry.attempts
            )
        // The proxy has refused to let it through: the server knows nothing of it.
        case .exited where connect >= 300:
            return .held(cause: "status \(connect) of the proxy, which connects to nobody")
        // CURLE_PEER_FAILED_VERIFICATION: it was not the server, so nothing was sent. A portal that answers for all names looks like that.
        case .exited(60): return .held(cause: Self.failure(60, words))
        // No such protocol in this curl, or no such URL: it will not get better.
        case .exited(let code) where [1, 3].contains(code): return .rejected(reason: Self.failure(code, words))
        case .exited(let code): return .retry(after: nil, cause: Self.failure(code, words))
        case .signaled(let signal): return .retry(after: nil, cause: "curl ended by signal \(signal)")
        }
    }

    /// For example `curl: (7) Failed to connect to one.example port 443`.
    private static func failure(_ code: CInt, _ words: String) -> String {
        words.isEmpty ? "curl exit status \(code)" : "curl: (\(code)) \(words)"
    }
}
