import ArgumentParser
import AsyncHTTPClient
import CommandLineSupport
import FoundationEssentials
import Glibc
import LinuxSupport
import NIOCore
import NIOSSL
import ReachabilityHTTP
import ReachabilityRequests
import ReachabilityRetry

/// `reachability download`: downloads a file and continues after network failures.
struct Download: AsyncParsableCommand {
    static let configuration = DownloadArguments.configuration

    @OptionGroup var arguments: DownloadArguments

    func run() async throws {
        let plan = try DownloadPlan(arguments)
        let client = RetryingHTTPClient(configuration: try .forDownload(of: plan.url))
        let result: Result<Void, any Error>
        do { result = .success(try await fetch(plan, with: client)) } catch { result = .failure(error) }
        try? await client.shutdown()
        try result.get()
    }

    private func fetch(_ plan: DownloadPlan, with client: RetryingHTTPClient) async throws {
        // The request starts when the check of the file is added.
        let session = Session(
            client: client,
            retry: .untilNothingComes,
            headers: plan.headers,
            startRequestsImmediately: false
        )
        let request =
            session
            .download(plan.url.text, to: plan.path, replacing: arguments.force)
        if let digest = plan.digest { request.validateFile(digest.check) }
        let end = DownloadEnd(deadline: plan.deadline) { request.cancel() }
        let shown = ProgressDisplay(request.downloadProgress())
        let response = await request.serializingDownloadedFileURL().response
        await shown.end()
        switch response.result {
        case .success: shown.printSize(of: plan.path)
        case .failure(.explicitlyCancelled): throw end.error(of: response, at: plan.path)
        case .failure(let error): throw ExitMessage(error, replacing: arguments.force)
        }
    }
}

extension RetryPolicy {
    /// The policy of a download: waits for the network without a limit, and gives up after 20 attempts in a row without data (about six
    /// minutes).
    fileprivate static let untilNothingComes = standard.changing { policy in
        policy.deadline = nil
        policy.attemptsAfterSending = policy.attempts
        policy.attemptsRefused = .max
        policy.waitsFirst = true
    }
}

extension HTTPClient.Configuration {
    /// Creates the client configuration of a download, with the proxy of the environment (``ProxyEnvironment``) and the trust anchors of
    /// `SSL_CERT_FILE`.
    ///
    /// An attempt that receives no data for 30 s ends. The next attempt requests the rest of the file.
    ///
    /// - Throws: ``ExitMessage`` if the proxy cannot be used or the file of anchors is missing.
    static func forDownload(of url: DownloadURL) throws(ExitMessage) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if url.parts.scheme == "https", let roots = EnvironmentVariable.value(of: "SSL_CERT_FILE") {
            guard FileName.isTaken(roots) else {
                throw ExitMessage("cannot read SSL_CERT_FILE: \(roots) does not exist", .unavailable)
            }
            tls.trustRoots = .file(roots)
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            timeout: Timeout(connect: .seconds(10), read: .seconds(30))
        )
        switch ProxyEnvironment().proxyUse(to: url.text) {
        case .direct: break
        case .proxy(let proxy): configuration.proxy = proxy
        case .unusable(let sentence): throw ExitMessage(sentence, .usage)
        }
        return configuration
    }
}

/// A handler that ends a download at SIGINT, SIGTERM or the deadline. The received part is kept, so that another download can continue it.
///
/// C counterpart: `signal(7)`.
final class DownloadEnd {
    private enum Cause { case signal(CInt), deadline }

    private let cause: Locked<Cause?>
    private let sources: SignalSources
    private let clock: Task<Void, Never>?

    /// - Parameters:
    ///   - deadline: The maximum duration from now; nil for no deadline.
    ///   - cancel: Ends the download.
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

    /// Returns the error that ends the program.
    func error(of response: AFDownloadResponse<URL>, at path: String) -> any Error {
        let size = FileName.size(of: "\(path).part") ?? 0
        var hint = size > 0 ? "; \(ByteText.text(size)) are stored, and the same command continues" : ""
        // The last error before a wait. An attempt in progress has no error.
        if let last = response.metrics?.attempts.last, last.reason != nil, let error = last.error {
            hint += "; the last error was: \(ErrorDescription.text(of: error).printable)"
        }
        switch cause.withLock({ $0 }) {
        case .deadline?: return ExitMessage("the deadline has passed\(hint)", .temporaryFailure)
        case .signal(let number)?:
            StandardError.report("ended by a signal\(hint)")
            return ExitCode(128 + number)
        case nil: return ExitMessage("the download was cancelled\(hint)", .temporaryFailure)
        }
    }
}

extension ExitMessage {
    /// Creates the message for a failed download.
    ///
    /// - Parameter replacing: Whether to replace an existing file.
    init(_ error: AFError, replacing: Bool) {
        switch error {
        case .downloadedFileMoveFailed(DownloadFailure.fileExists(let path), _, _):
            let remedy = replacing ? "and is not a regular file" : "--force replaces it"
            self.init("cannot create \(path): it exists\(replacing ? " " : "; ")\(remedy)", .cantCreate)
        case .downloadedFileMoveFailed(let cause as SystemError, _, let file) where cause == .fileExists:
            self.init("cannot create \(file.relativePath): it was created meanwhile; --force replaces it", .cantCreate)
        case .responseValidationFailed(.customValidationFailed(let cause as OtherDigest)):
            self.init("the download is not the expected file: \(cause)", .dataError)
        case .sessionTaskFailed(let cause as DownloadFailure): self.init("\(cause)", Self.status(of: error))
        default: self.init("\(error)", Self.status(of: error))
        }
    }

    private static func status(of error: AFError) -> Status {
        switch error {
        case .sessionTaskFailed(DownloadFailure.busy): .temporaryFailure
        case .downloadedFileMoveFailed: .ioError
        case .sessionTaskFailed(DownloadFailure.notWritten(_, let cause)):
            (cause as? SystemError)?.isOfDisk == true ? .ioError : .cantCreate
        case .invalidURL: .usage
        default: .unavailable
        }
    }
}

extension SystemError {
    /// A Boolean value that indicates whether the disk is full or broken.
    fileprivate var isOfDisk: Bool {
        [.noSpace, .fileTooLarge, .init(rawValue: EDQUOT), .init(rawValue: EIO)].contains(self)
    }
}
