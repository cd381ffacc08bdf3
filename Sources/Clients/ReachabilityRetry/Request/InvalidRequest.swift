/// The error of a request that a server would read as another one, or as two (RFC 9110, sections 5.1, 5.5 and 9.1). Nothing of it is sent.
public enum InvalidRequest: RetryableError, Hashable {
    /// The method is not a token.
    case method(String)
    /// The name of the field is not a token, or the value has a line break or a NUL.
    case header(name: String)

    /// Not retried.
    public var failureStage: FailureStage? { nil }
}

extension InvalidRequest: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do. Texts are escaped.
    public var description: String {
        switch self {
        case .method(let text):
            "\(text.debugDescription) is no method, so nothing was sent; a method has letters, digits and some signs"
        case .header(let name):
            "the header field \(name.debugDescription) cannot be sent, so nothing was: a name has letters, digits and some signs of ASCII, a"
                + " value no line break"
        }
    }
}

extension PlainRequest {
    /// Throws if the request cannot be sent as it is. Clients handle such a request differently: swift-nio ends the process if a name is not ASCII,
    /// and others send the lines that a line break makes.
    package func check() throws(InvalidRequest) {
        guard method.rawValue.isToken else { throw .method(method.rawValue) }
        for field in fields {
            let isSafe = field.value.utf8.allSatisfy { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
            guard isSafe, field.name.isToken else { throw .header(name: field.name) }
        }
    }
}

extension String {
    /// Whether it is a token (RFC 9110, section 5.6.2).
    package var isToken: Bool { !isEmpty && utf8.allSatisfy { $0.isOfToken } }
}

extension UInt8 {
    /// Whether it may stand in a token (RFC 9110, section 5.6.2).
    package var isOfToken: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
