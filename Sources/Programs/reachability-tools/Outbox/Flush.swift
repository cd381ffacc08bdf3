import ArgumentParser
import AsyncHTTPClient
import CommandLineSupport
import Glibc
import LinuxSupport
import NIOSSL
import ReachabilityHTTP
import ReachabilityOutbox
import ReachabilityRetry
import Subprocess
import SystemPackage

/// `reachability outbox flush`: sends the waiting requests.
struct Flush: AsyncParsableCommand {
    static let configuration = OutboxFlushArguments.configuration

    @OptionGroup var arguments: OutboxFlushArguments

    func run() async throws {
        let limit = try arguments.timeout?.value ?? .seconds(60)
        var options = OutboxOptions()
        if let attempts = arguments.attempts { options.maximumAttempts = attempts }
        if let name = arguments.with {
            try await flush(options, ProgramSender(program: Program(name: name), limit: limit), .shared)
        } else {
            let proof = try arguments.expect.map { try DeliveryProof(argument: $0) }
            let sender = ClientSender(limit: limit, proof: proof)
            let result: Result<Void, any Error>
            do { result = .success(try await flush(options, sender, .init(reachability: ProxiedReachability()))) } catch
            {
                result = .failure(error)
            }
            await sender.close()
            try result.get()
        }
    }

    private func flush(
        _ options: OutboxOptions,
        _ sender: some OutboxSender,
        _ coordinator: RetryCoordinator
    ) async throws {
        let (hasLost, isSilent) = (Locked(false), Locked(true))
        let left = try await arguments.outbox.withExisting(options) { outbox in
            let task = Task {
                try await outbox.flush(sender: sender, coordinator: coordinator) { event in
                    isSilent.withLock { $0 = false }
                    switch event {
                    // The loss of a request is reported even if standard output is discarded.
                    case .expired: StandardError.report(event.line)
                    default: StandardOutput.write(text: event.line)
                    }
                    switch event {
                    case .expired, .rejected: hasLost.withLock { $0 = true }
                    default: break
                    }
                }
            }
            // The current delivery is completed.
            let signals = SignalSources([SIGINT, SIGTERM]) { _ in task.cancel() }
            defer { signals.cancel() }
            let left = try await task.value
            if isSilent.withLock({ $0 }), left == 0 {
                let dead = try await outbox.deadLetters().count
                let hint = dead == 0 ? "" : "; dead letters: \(dead), see `reachability outbox list`"
                StandardOutput.write(text: "nothing to send\(hint)")
            }
            return left
        }
        if hasLost.withLock({ $0 }) { throw ExitCode(ExitMessage.Status.dataError.rawValue) }
        if left > 0 { throw ExitCode(ExitMessage.Status.temporaryFailure.rawValue) }
    }
}

extension OutboxEvent {
    /// The event as a line, for example `12: delivered`.
    var line: String {
        switch self {
        case .delivered(let entry): "\(entry.id): delivered"
        case .postponed(let entry):
            "\(entry.id): not delivered, attempt \(entry.attempts)\(entry.lastError.map { ": \($0)" } ?? "")"
        case .held(let entry): "\(entry.id): waits, \(entry.lastError ?? "")"
        case .rejected(let entry, let reason): "\(entry.id): dead letter, \(reason)"
        case .expired(let entry): "\(entry.id): expired, deleted unsent: \(entry.method) \(entry.origin)"
        case .dropped(let entry): "\(entry.id): deleted unsent to make room: \(entry.method) \(entry.origin)"
        case .skipped(let origin, let count, .notReachable(let reason)):
            "\(origin): \(count) left, not reachable\(reason.map { ": \($0)" } ?? "")"
        case .skipped(let origin, let count, .until(let time)):
            "\(origin): \(count) left, not before \(Timestamp(real: time).text), as the server requested"
        case .skipped(let origin, let count, .behind(let id)): "\(origin): \(count) left, waiting for \(id)"
        }
    }
}

/// Sends requests with async-http-client, directly or through the proxy of the environment. There is one client per proxy.
///
/// `SSL_CERT_FILE` replaces the system's trust anchors.
final class ClientSender: OutboxSender {
    private let proxies = ProxyEnvironment()
    private let limit: Duration
    private let proof: DeliveryProof?
    private let clients: Locked<[HTTPClient.Configuration.Proxy?: RetryingHTTPClient]> = Locked([:])

    /// - Parameters:
    ///   - limit: The maximum duration of a request.
    ///   - proof: The proof that a success must contain; nil for none.
    init(limit: Duration, proof: DeliveryProof?) {
        (self.limit, self.proof) = (limit, proof)
    }

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        let proxy: HTTPClient.Configuration.Proxy?
        switch proxies.proxyUse(to: delivery.request.url) {
        case .direct: proxy = nil
        case .proxy(let named): proxy = named
        case .unusable(let reason): return .held(cause: reason)
        }
        return await HTTPOutboxSender(client: client(for: proxy), limit: limit, proof: proof).send(delivery)
    }

    /// Shuts down the clients. Must be the last call.
    func close() async {
        for client in clients.withLock({ Array($0.values) }) { try? await client.shutdown() }
    }

    private func client(for proxy: HTTPClient.Configuration.Proxy?) -> RetryingHTTPClient {
        clients.withLock { clients in
            if let client = clients[proxy] { return client }
            let client = RetryingHTTPClient(configuration: Self.configuration(for: proxy))
            clients[proxy] = client
            return client
        }
    }

    private static func configuration(for proxy: HTTPClient.Configuration.Proxy?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, proxy: proxy)
        if let file = EnvironmentVariable.value(of: "SSL_CERT_FILE"), !file.isEmpty {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        return configuration
    }
}

/// The reachability of the proxy for a host. Without a proxy, that of the host itself.
struct ProxiedReachability: ReachabilityProvider {
    private let provider = NetlinkReachabilityProvider()
    private let proxies = ProxyEnvironment()

    func watch(_ host: String?, _ listener: @escaping @Sendable (HostReachability) -> Void) -> any ReachabilityWatch {
        provider.watch(host.map(proxies.connectionHost), listener)
    }

    func reachability(of host: String?) -> HostReachability {
        provider.reachability(of: host.map(proxies.connectionHost))
    }

    func isLocal(_ address: String) -> Bool { provider.isLocal(address) }

    func unassignedAddresses() -> [String] { provider.unassignedAddresses() }
}

extension DeliveryProof {
    /// Parses `status=N`, `header=NAME: VALUE` or `body=TEXT`.
    ///
    /// - Throws: ``ExitMessage`` if the text has another form.
    init(argument: String) throws {
        let parts = argument.split(at: "=", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count > 1 ? parts[1] : "") {
        case ("status", let text):
            if let status = Int(text), 200..<300 ~= status {
                self = .status(status)
                return
            }
        case ("header", let text):
            let sides = text.split(at: ":", maxSplits: 1)
            if sides.count == 2 {
                self = .header(.init(name: String(sides[0]), value: String(sides[1].drop { $0 == " " })))
                return
            }
        case ("body", let text) where !text.isEmpty:
            self = .body(text)
            return
        default: break
        }
        let forms = "status=N from 200 to 299, header=NAME: VALUE or body=TEXT"
        throw ExitMessage("\"\(argument.printable)\" is not a value for --expect; write \(forms)", .usage)
    }
}

/// Sends requests with a program of the user. The program reads the request from standard input as an HTTP/1.1 message with an absolute
/// URL (RFC 9112, section 3.2.2). Its exit status is the result.
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
                // The first result cancels the other task, which ends the program.
                group.cancelAll()
                if let ended { result = ended }
            }
            return result ?? .retry(after: nil, cause: "\(program.name) exceeded the timeout")
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
    /// Opens the file again for reading from its beginning, as a standard input that may stay unread. swift-subprocess 1.0 ends with a
    /// fatal error when it writes to a pipe without a reader.
    func opened() throws -> FileDescriptor {
        try .open(FilePath("/proc/self/fd/\(descriptor)"), .readOnly, options: .closeOnExec)
    }
}

extension Program {
    /// Returns the result for a program that was not started. It does not count as an attempt.
    func couldNotRun(_ error: SubprocessError) -> OutboxResult {
        .held(cause: "cannot run \(name): \(failure(error).cause); install it, or name another program with --with")
    }

    /// Returns the result if there is not enough memory for the request.
    func couldNotHold(_ error: any Error) -> OutboxResult {
        .held(cause: "cannot hold the request in memory: \(error)")
    }
}

extension PlatformOptions {
    /// The options of a program that can be ended: it receives SIGTERM, and SIGKILL five seconds later.
    static var ended: PlatformOptions {
        var options = PlatformOptions()
        options.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: .seconds(5))]
        return options
    }
}
