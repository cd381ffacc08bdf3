public import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// Checks a complete file before it gets its name. If it throws, the file is deleted.
public typealias FileValidation = @Sendable (_ path: String) async throws -> Void

/// A request whose answer becomes a file. The file gets its name when it is complete, so there is never a part of a file in its place. It
/// is sent by its first handler, or soon after its creation (``Session/startRequestsImmediately``).
///
/// An interrupted download continues if the server identifies versions of the file (a strong ETag). It fails if no more data comes, and not
/// because it takes long.
public final class DownloadRequest: Request, @unchecked Sendable {  // Unchecked because its superclass is.
    /// The steps before the file is moved to its place.
    public struct Options: OptionSet, Sendable {
        /// Creates the directories of the place.
        public static let createIntermediateDirectories = Options(rawValue: 1)
        /// Replaces an existing file.
        public static let removePreviousFile = Options(rawValue: 2)

        /// The bits, one for each option.
        public let rawValue: Int

        /// Options of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Chooses the place of the complete file.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

    /// The source of a download.
    public enum Downloadable: Sendable {
        /// A request.
        case request(any URLRequestConvertible)
        /// ``DownloadRequest/resumeData`` of an earlier download.
        case resumeData(Data)
    }

    /// The place of the file.
    enum Target: Sendable {
        /// A path. The part is beside it.
        case file(String, replacing: Bool, isResuming: Bool)
        /// The choice of a closure; nil for the temporary directory, where the part is, too.
        case chosen(Destination?)
    }

    /// The source of the download.
    public let downloadable: Downloadable

    let target: Target
    let fileChecks = Locked<[FileValidation]>([])
    /// The path of the file until it is moved to its place.
    let path: String
    private let keepsPart = Locked(false)

    init(
        _ downloadable: Downloadable,
        to target: Target,
        in session: Session,
        _ interceptor: (any RequestInterceptor)?
    ) {
        (self.downloadable, self.target) = (downloadable, target)
        let source: any URLRequestConvertible
        var place: String?
        switch downloadable {
        case .request(let convertible): source = convertible
        case .resumeData(let data):
            let ticket = ResumeTicket(data)
            source = ticket
            place = ticket.known?.path
        }
        if case .file(let given, _, _) = target {
            path = given
        } else {
            let folder = FileManager.default.temporaryDirectory.path
            path = place ?? "\(folder)/Alamofire_\(UUID().uuidString).tmp"
        }
        super.init(source, in: session, interceptor, endsWithWork: true)
    }

    override func run(_ request: URLRequest) async -> Answer {
        do throws(AFError) {
            var isResuming = true
            if case .file(let path, let replacing, let resumes) = target {
                try Self.check(path, replacing: replacing)
                isResuming = resumes
            }
            let partial = try PartialDownload(
                path,
                url: request.text,
                isResuming: isResuming,
                takesAnyStatus: target.isChosen
            ) { [weak self] progress in
                self?.change(.download) { $0 = progress }
            }
            var answer = await session.download(request, of: self, partial)
            let isKept = partial.isResumable && (!target.isChosen || !isCancelled || keepsPart.withLock { $0 })
            if answer.error != nil, isKept, partial.isNamed {
                answer.resumeData = ResumeTicket.data(of: request, at: path)
            }
            partial.leave(keepingPart: isKept)
            return answer
        } catch {
            return Answer(error: error)
        }
    }

    /// Checks whether a file can have this name, before anything is sent. A directory or a device is never replaced.
    private static func check(_ destination: String, replacing: Bool) throws(AFError) {
        let name = destination.split(at: "/", omittingEmptySubsequences: false).last ?? ""
        if ["", ".", ".."].contains(name) || destination.utf8.contains(0) {
            throw .failed(SystemError.invalidArgument, at: destination)
        }
        guard FileName.isTaken(destination) else { return }
        if !replacing || FileName.size(of: destination) == nil {
            let url = URL(filePath: destination)
            let error = DownloadFailure.fileExists(path: destination)
            throw .downloadedFileMoveFailed(error: error, source: url, destination: url)
        }
    }

    /// Cancels the download. A part of a file with a path stays if it can be continued, another part is deleted.
    ///
    /// - Parameter shouldProduceResumeData: True if the part stays in any case, and ``resumeData`` continues it.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        keepsPart.withLock { $0 = shouldProduceResumeData }
        return cancel()
    }
}

extension DownloadRequest {
    /// The file, or nil. Nil before the end.
    public var fileURL: URL? { exchange.result?.file }

    /// The data with which a cancelled or failed download can be continued; nil if it cannot.
    public var resumeData: Data? { exchange.result?.resumeData }

    /// Calls the closure with the complete file, which does not have its name yet, for example to verify its digest. If it throws, the
    /// error is ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``, and the file is deleted.
    @discardableResult
    public func validateFile(_ check: @escaping FileValidation) -> Self {
        fileChecks.withLock { $0.append(check) }
        return self
    }

    /// Moves the complete file to the place that the closure chooses.
    func place(_ answer: Answer) throws(AFError) -> URL {
        let source = URL(filePath: path)
        var (url, options) = (source, Options())
        if case .chosen(let destination?) = target, let response = answer.response {
            (url, options) = destination(source, response)
        }
        didChoose(url)
        guard url.path != source.path else {
            didPlace(.success(source))
            return source
        }
        do {
            let files = FileManager.default
            if options.contains(.removePreviousFile), files.fileExists(atPath: url.path) {
                try files.removeItem(at: url)
            }
            if options.contains(.createIntermediateDirectories) {
                try files.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            try files.moveItem(at: source, to: url)
            didPlace(.success(url))
            return url
        } catch {
            let error = AFError.downloadedFileMoveFailed(error: error, source: source, destination: url)
            didPlace(.failure(error))
            throw error
        }
    }
}

extension DownloadRequest.Target {
    /// A Boolean value that indicates whether a closure chooses the place.
    var isChosen: Bool { if case .chosen = self { true } else { false } }
}

extension Session {
    /// Requests the rest again and again, as long as each time more data comes.
    func download(_ request: URLRequest, of owner: DownloadRequest, _ partial: PartialDownload) async -> Answer {
        let began = ContinuousClock.now
        var attempts: [RetryAttempt] = []
        var hasStartedOver = false
        var answer: Answer
        while true {
            let (size, earlier) = (partial.size, began.duration(to: .now))
            answer = await send(partial.requestingRest(in: request), of: owner, into: partial)
            answer.metrics?.timeToHead? += earlier
            attempts += answer.metrics?.attempts ?? []
            if Task.isCancelled { answer.error = .explicitlyCancelled }
            do throws(AFError) {
                guard let error = answer.error else {
                    for check in owner.fileChecks.withLock({ $0 }) { try await partial.check(by: check) }
                    try partial.check(answer, of: request, by: owner.validator.withLock { $0 })
                    if Task.isCancelled { throw .explicitlyCancelled }
                    if case .file(_, let replacing, _) = owner.target {
                        try partial.finish(replacing: replacing)
                    } else {
                        try partial.finish(replacing: true)
                    }
                    answer.file = try owner.place(answer)
                    break
                }
                if case .sessionTaskFailed(let cause) = error,
                    case .startOver(let reason) = cause as? DownloadFailure,
                    !hasStartedOver
                {
                    hasStartedOver = true
                    try partial.startOver(because: reason)
                } else if !(error.mayContinue && partial.isResumable && partial.size > size) {
                    break
                }
            } catch {
                answer.error = error
                break
            }
            owner.willRetry(after: answer.metrics ?? RequestMetrics(), answer.error)
        }
        answer.data = nil
        answer.metrics?.attempts = attempts
        answer.metrics?.receivedBytes = partial.received
        answer.metrics?.end(after: began.duration(to: .now))
        return answer
    }
}

extension AFError {
    /// A Boolean value that indicates whether the rest may come if it is requested.
    fileprivate var mayContinue: Bool {
        guard case .sessionTaskFailed(let cause) = self else { return false }
        return (cause as? DownloadFailure)?.mayContinue ?? true
    }
}

/// The data with which a download can be continued: the path of the part, and the request.
private struct ResumeTicket: URLRequestConvertible {
    struct Known: Codable {
        var path: String
        var url: String
        var fields: [String: String]
    }

    let known: Known?

    init(_ data: Data) { known = try? JSONDecoder().decode(Known.self, from: data) }

    static func data(of request: URLRequest, at path: String) -> Data? {
        try? JSONEncoder().encode(Known(path: path, url: request.text, fields: request.headers.dictionary))
    }

    func asURLRequest() throws -> URLRequest {
        guard let known else { throw AFError.sessionTaskFailed(error: DownloadFailure.invalidResumeData) }
        return URLRequest(text: known.url, headers: HTTPHeaders(known.fields).sorted())
    }
}

/// The reason why a download has no file.
public enum DownloadFailure: Error {
    /// Another download to the same path is in progress.
    case busy(path: String)
    /// A file exists, and must not be replaced.
    case fileExists(path: String)
    /// The file, or its part, cannot be written, with the error of the system.
    case notWritten(path: String, any Error)
    /// The connection broke, with the error.
    case connectionBroken(any Error)
    /// The server sent more bytes than announced.
    case tooLong(Int64)
    /// The server sent fewer bytes than announced.
    case tooShort(Int64, of: Int64)
    /// The server sent a part of the file, although the whole file was requested.
    case unexpectedPart
    /// The part cannot be continued.
    case startOver(String)
    /// The data is not ``DownloadRequest/resumeData``.
    case invalidResumeData
}

extension DownloadFailure: DescribedError {
    /// The reason in one sentence.
    public var description: String {
        switch self {
        case .busy(let path): "cannot download to \(path.printable): another download is in progress"
        case .fileExists(let path): "cannot create \(path.printable): it exists; remove it, or allow its replacement"
        case .notWritten(let path, let error): "cannot write \(path.printable): \(error)"
        case .connectionBroken(let error): "the connection failed: \(error)"
        case .tooLong(let total): "the server announced \(total) bytes and sends more"
        case .tooShort(let size, let total): "the server announced \(total) bytes and ended after \(size)"
        case .unexpectedPart: "the server sent a part of the file, although the whole file was requested"
        case .startOver(let reason): "cannot continue the received part: \(reason)"
        case .invalidResumeData: "cannot continue the download: the resume data is damaged, or of another program"
        }
    }

    /// A Boolean value that indicates whether the rest may come if it is requested.
    fileprivate var mayContinue: Bool {
        switch self {
        case .connectionBroken, .tooShort: true
        default: false
        }
    }
}
