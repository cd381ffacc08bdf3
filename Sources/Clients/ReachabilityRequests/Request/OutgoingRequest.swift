public import ReachabilityRetry

/// A method of a request, as Alamofire's code calls it.
public typealias HTTPMethod = RequestMethod

/// A request before it is sent: method, URL, header fields and body. It stands where `URLRequest` does with Alamofire.
public struct OutgoingRequest: Sendable {
    /// The URL as text.
    public var url: String
    /// The method.
    public var method: HTTPMethod
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; nil for none.
    public var body: RequestBody?

    /// A request.
    public init(
        url: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }

    /// Without its body, as adapters see it.
    public var plain: PlainRequest {
        PlainRequest(
            method: method,
            url: url,
            fields: headers.map { PlainRequest.Field(name: $0.name, value: $0.value) }
        )
    }
}

/// What a request carries. Every kind can be sent any number of times.
public enum RequestBody: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A file, read while it is sent. If it is longer or shorter by then than when it was begun, the request fails.
    case file(String)
    /// A form, whose files are read while it is sent.
    case multipart(MultipartFormData)

    /// How many bytes it has.
    ///
    /// - Throws: ``RequestError/createUploadableFailed(error:)`` where a file cannot be read.
    public func length() throws(RequestError) -> Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let path): try FilePart.length(of: path)
        case .multipart(let form): form.contentLength
        }
    }
}
