import LinuxSupport

/// What an answer says before its body. It stands where `HTTPURLResponse` does with Alamofire.
public struct ResponseHead: Hashable, Sendable {
    /// The URL that was asked last, after all redirects.
    public let url: String
    /// The status, 100 to 599.
    public let statusCode: Int
    /// The header fields. Several of one name are one here, with `, ` between their values (RFC 9110, section 5.3).
    public let headers: HTTPHeaders

    /// An answer.
    public init(url: String, statusCode: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.url = url
        self.statusCode = statusCode
        self.headers = headers
    }

    /// The media type; nil where there is none, or it is damaged.
    public var mimeType: MIMEType? { headers["Content-Type"].flatMap { MIMEType($0) } }

    /// How many bytes the body has as it is sent; nil where that is not said, or a coding will be undone.
    public var expectedContentLength: Int64? {
        guard contentEncoding == nil, let text = headers["Content-Length"] else { return nil }
        // Several values that are all the same are one (RFC 9110, section 8.6).
        let values = Set(text.split(at: ",").map { $0.trimmingBlanks })
        guard values.count == 1, let value = values.first, !value.isEmpty,
            value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return Int64(value)
    }

    /// Whether the head says that no body follows (RFC 9110, sections 6.4.1, 15.3.5 and 15.3.6).
    var hasNoBody: Bool { [204, 205, 304].contains(statusCode) || expectedContentLength == 0 }

    /// The coding of the body; nil for none.
    var contentEncoding: String? {
        headers["Content-Encoding"].map { $0.lowercased() }.flatMap { $0 == "identity" || $0.isEmpty ? nil : $0 }
    }
}

extension StringProtocol {
    var trimmingBlanks: String {
        let front = drop { $0 == " " || $0 == "\t" }
        return String(front.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
