import FoundationEssentials
import LinuxSupport
public import ReachabilityRetry

// What `print` and `debugPrint` show, in Alamofire's form. Secrets are masked as in `cURLDescription()`, and text of servers is made safe.

extension OutgoingRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL.
    public var description: String { "\(method.rawValue.printable) \(Self.masked(url).printable)" }

    /// The command line of curl(1).
    public var debugDescription: String { cURLDescription() }

    fileprivate func description(_ response: ResponseHead?) -> String {
        response.map { "\(self) (\($0.statusCode))" } ?? description
    }
}

extension DataRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if there is an answer: `GET https://example.org/ (200)`.
    public var description: String { request.description(response) }

    /// The command line of curl(1).
    public var debugDescription: String { cURLDescription() }
}

extension DownloadRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if there is an answer.
    public var description: String { request.description(response) }

    /// The command line of curl(1).
    public var debugDescription: String { request.cURLDescription() }
}

extension DataStreamRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if the answer has ended.
    public var description: String { request.description(completion?.response) }

    /// The command line of curl(1).
    public var debugDescription: String { request.cURLDescription() }
}

extension FailedRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if there was an answer.
    public var description: String { OutgoingRequest(request).description(response) }

    /// The command line of curl(1).
    public var debugDescription: String { OutgoingRequest(request).cURLDescription() }
}

extension OutgoingRequest {
    fileprivate init(_ plain: PlainRequest) {
        let headers = HTTPHeaders(plain.fields.map { HTTPHeader(name: $0.name, value: $0.value) })
        self.init(url: plain.url, method: plain.method, headers: headers)
    }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { "\(result)" }

    /// The request, the answer, how long both took, and the result.
    public var debugDescription: String {
        let body = response.map { DebugText.body(data.map { [UInt8]($0) }, of: $0.headers) } ?? []
        let serialization = "[Serialization Duration]: \(serializationDuration)s"
        return DebugText.lines(of: request, response, body, metrics, [serialization, "[Result]: \(result)"])
    }
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { "\(result)" }

    /// The request, the answer, how long both took, and the result.
    public var debugDescription: String {
        DebugText.lines(of: request, response, [], metrics, ["[Result]: \(result)"])
    }
}

private enum DebugText {
    /// A longer body is shown by its length.
    private static let longestBody = 100_000

    static func lines(
        of request: OutgoingRequest,
        _ response: ResponseHead?,
        _ responseBody: [String],
        _ metrics: RequestMetrics,
        _ end: [String]
    ) -> String {
        var lines = ["[Request]: \(request)"] + indented(headers(request.headers) + body(of: request))
        if let response {
            let head = ["[Status Code]: \(response.statusCode)"] + headers(response.headers)
            lines += ["[Response]:"] + indented(head + responseBody)
        } else {
            lines.append("[Response]: None")
        }
        lines.append("[Network Duration]: \(metrics.duration / .seconds(1))s")
        return (lines + end).joined(separator: "\n")
    }

    static func body(_ bytes: [UInt8]?, of headers: HTTPHeaders) -> [String] {
        guard let bytes, !bytes.isEmpty else { return ["[Body]: None"] }
        let type = headers["Content-Type"]?.lowercased() ?? ""
        guard ["json", "xml", "text"].contains(where: { type.contains($0) }), bytes.count <= longestBody else {
            return ["[Body]: \(bytes.count) bytes"]
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return ["[Body]:"] + indented(lines.map { String(decoding: $0, as: UTF8.self).printable })
    }

    private static func body(of request: OutgoingRequest) -> [String] {
        switch request.body {
        case nil: ["[Body]: None"]
        case .bytes(let bytes): body(bytes, of: request.headers)
        case .file(let path): ["[Body]: the file \(path.printable)"]
        case .multipart(let form): ["[Body]: a form of \(form.contentLength) bytes"]
        }
    }

    private static func headers(_ headers: HTTPHeaders) -> [String] {
        guard !headers.isEmpty else { return ["[Headers]: None"] }
        let fields = headers.sorted().map { header in
            let value = OutgoingRequest.isSecret(header.name) ? "***" : header.value.printable
            return "\(header.name.printable): \(value)"
        }
        return ["[Headers]:"] + indented(fields)
    }

    private static func indented(_ lines: [String]) -> [String] { lines.map { "    \($0)" } }
}
