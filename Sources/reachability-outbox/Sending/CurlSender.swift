import CommandLineSupport
import Glibc
import Netlink
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
        switch status {
        case .exited(0):
            // The status, a blank, and Retry-After, which may have blanks in it.
            let code = output.prefix { $0 != " " }
            let status = HTTPStatus(code: Int(code) ?? 0)
            if status.isFromTheWay {
                StandardError.write(
                    "reachability: \(entry.id): status \(status.code), of a portal, a proxy or a login: the request is kept"
                )
            }
            return status.result(retryAfter: String(output.dropFirst(code.count + 1)), entry)
        // No such protocol in this curl, or no such URL: it will not get better.
        case .exited(let code) where [1, 3].contains(code): return .rejected(reason: "curl exit status \(code)")
        case .exited(let code):
            StandardError.write("reachability: \(entry.id): curl exit status \(code)")
            return .retry(after: nil)
        case .signaled(let signal):
            StandardError.write("reachability: \(entry.id): curl ended by signal \(signal)")
            return .retry(after: nil)
        }
    }
}
