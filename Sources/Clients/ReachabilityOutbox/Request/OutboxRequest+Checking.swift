import ReachabilityRetry

extension OutboxRequest {
    /// Why a stored request can never be sent; nil if it can. An earlier version may have stored it, or the row is damaged.
    var refusal: String? {
        do throws(OutboxError) {
            _ = try check()
            return nil
        } catch {
            if case .invalidRequest(let text) = error { return "it cannot be sent: \(text)" }
            return "it cannot be sent"
        }
    }

    /// Checks what would break the request's form, or let one header or line be taken for two; says nothing of the values.
    func check() throws(OutboxError) -> OutboxOrigin {
        guard Self.isToken(method) else { throw .invalidRequest("the method is no token such as POST") }
        for header in headers {
            guard Self.isToken(header.name) else { throw .invalidRequest("a header's name is no token such as Accept") }
            guard !Self.framing.contains(header.name.lowercased()) else {
                throw .invalidRequest("the header \(header.name) is the sender's: it follows from the URL and the body")
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw .invalidRequest("the value of the header \(header.name) has a control character")
            }
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw .invalidRequest("the URL has blanks, control characters or letters beyond ASCII")
        }
        if let key = headers.value(of: Self.idempotencyKeyHeader.lowercased()), key.isEmpty {
            throw .invalidRequest("the header \(Self.idempotencyKeyHeader) is empty")
        }
        return try OutboxOrigin(url)
    }

    /// Headers of the message and the connection (RFC 9110, sections 7.2, 7.6.1, 7.8, 8.6, 10.1.1 and 10.1.4; RFC 9112, section 6.1):
    /// one that contradicts what is sent lets a server take a part of the body for another request, or names another server.
    static let framing: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// RFC 9110, section 5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
