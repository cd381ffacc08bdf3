public import Dispatch
public import FoundationEssentials
public import ReachabilityRequests

public import struct Foundation.CharacterSet
public import class Foundation.DateFormatter

// Members of Foundation's types, and members of requests that have another name in ReachabilityRequests.

extension URLRequest {
    /// The name of the method. Nil stands for GET.
    public var httpMethod: String? {
        get { sentMethod.rawValue }
        set { sentMethod = HTTPMethod(rawValue: newValue ?? "GET") }
    }

    /// The header fields. Nil removes all.
    public var allHTTPHeaderFields: [String: String]? {
        get { headers.dictionary }
        set { headers = HTTPHeaders(newValue ?? [:]).sorted() }
    }

    /// Returns the value of a header field; nil if it is missing.
    public func value(forHTTPHeaderField field: String) -> String? { headers[field] }

    /// Sets a header field. Nil removes it.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) { headers[field] = value }

    /// Adds a value to a header field, behind a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        let former = headers.first { $0.name.isSameName(as: field) }
        headers.update(name: former?.name ?? field, value: former.map { "\($0.value),\(value)" } ?? value)
    }
}

extension HTTPURLResponse {
    /// An answer. `httpVersion` has no effect.
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        self.init(text: url.absoluteString, statusCode: statusCode, headers: HTTPHeaders(headerFields ?? [:]).sorted())
    }

    /// The header fields.
    public var allHeaderFields: [AnyHashable: Any] { headers.dictionary }

    /// Returns the value of a header field; nil if it is missing.
    public func value(forHTTPHeaderField field: String) -> String? { headers[field] }
}

extension Request {
    /// The first attempt; nil before it.
    public var firstTask: URLSessionTask? { tasks.first }
    /// The last attempt; nil before the first one.
    public var task: URLSessionTask? { tasks.last }

    /// The metrics, one element at most: they include all attempts.
    public var allMetrics: [RequestMetrics] { metrics.map { [$0] } ?? [] }
    /// The metrics; nil before the end.
    public var firstMetrics: RequestMetrics? { metrics }
    /// The metrics; nil before the end.
    public var lastMetrics: RequestMetrics? { metrics }

    /// The default queue of handlers.
    public var underlyingQueue: DispatchQueue { .main }
}

extension DataResponse {
    /// Returns the response with another value, or with the error of the closure.
    public func tryMap<New>(_ transform: (Success) throws -> New) -> DataResponse<New, any Error> {
        DataResponse<New, any Error>(self, Result { try transform(try result.get()) })
    }

    /// Returns the response with another error.
    public func mapError<New: Error>(_ transform: (Failure) -> New) -> DataResponse<Success, New> {
        DataResponse<Success, New>(self, result.mapError(transform))
    }

    /// Returns the response with another error, or with the error of the closure.
    public func tryMapError<New: Error>(_ transform: (Failure) throws -> New) -> DataResponse<Success, any Error> {
        let result = Result<Success, any Error> {
            switch self.result {
            case .success(let value): return value
            case .failure(let error): throw try transform(error)
            }
        }
        return DataResponse<Success, any Error>(self, result)
    }
}

extension ResponseSerializer {
    /// Returns whether the answer to this request may be empty; nil without a request.
    public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
        request.map { emptyRequestMethods.contains($0.sentMethod) }
    }

    /// Returns whether this answer may be empty; nil without an answer.
    public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
        response.map { emptyResponseCodes.contains($0.statusCode) }
    }
}

extension DownloadRequest {
    /// Returns a destination in a directory of the user, with the file name that the server suggests.
    public static func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask,
        options: Options = []
    ) -> Destination {
        { temporaryURL, response in
            let folder = FileManager.default.urls(for: directory, in: domain).first
            let name = response.suggestedFilename ?? temporaryURL.lastPathComponent
            return (folder?.appending(path: name) ?? temporaryURL, options)
        }
    }

    /// Cancels the download, and calls the closure with `resumeData`, nil if it cannot be continued.
    @discardableResult
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void) -> Self {
        cancel(producingResumeData: true).atEnd { [self] in completionHandler(resumeData) }
        return self
    }
}

extension URLEncodedFormEncoder.DateEncoding {
    /// Encodes a date with a formatter of Foundation.
    public static func formatted(_ formatter: DateFormatter) -> Self { .custom { formatter.string(from: $0) } }
}

extension URLEncodedFormEncoder {
    /// Creates an encoder that does not percent-encode these characters of US-ASCII. The other parameters have the same defaults as those
    /// of the other initializer.
    public init(
        alphabetizeKeyValuePairs: Bool = true,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dataEncoding: DataEncoding = .base64,
        dateEncoding: DateEncoding = .deferredToDate,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets,
        nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped,
        allowedCharacters: CharacterSet
    ) {
        let characters = (0...0x7f).map { Unicode.Scalar($0 as UInt8) }.filter { allowedCharacters.contains($0) }
        self.init(
            alphabetizeKeyValuePairs: alphabetizeKeyValuePairs,
            arrayEncoding: arrayEncoding,
            boolEncoding: boolEncoding,
            dataEncoding: dataEncoding,
            dateEncoding: dateEncoding,
            keyEncoding: keyEncoding,
            keyPathEncoding: keyPathEncoding,
            nilEncoding: nilEncoding,
            spaceEncoding: spaceEncoding,
            allowedCharacters: Set(characters)
        )
    }
}

extension CharacterSet {
    /// The characters that are not percent-encoded in a query (RFC 3986, section 3.4): letters, digits, and `-._~/?` of US-ASCII.
    public static let afURLQueryAllowed = CharacterSet(QueryEscaping.allowed)
}

extension HTTPHeader {
    /// Accept-Encoding with the content codings that the client decodes. The client also requests them without this field.
    public static let defaultAcceptEncoding = acceptEncoding("gzip;q=1.0, deflate;q=0.9")
}
