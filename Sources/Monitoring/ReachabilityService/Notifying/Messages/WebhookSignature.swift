import Crypto
import LinuxSupport
import ServerTrust

/// Proves that a message is ours, as Standard Webhooks has it: HMAC-SHA256 over id, time and body.
///
/// Source: <https://github.com/standard-webhooks/standard-webhooks>, symmetric signatures (`v1`); RFC 2104.
struct WebhookSignature: Sendable {
    private let key: [UInt8]

    /// - Parameter secret: What both sides know: `whsec_` and base64, or any bytes, 16 at least. Nil for fewer, or what is no base64.
    init?(secret: [UInt8]) {
        let text = String(decoding: secret, as: UTF8.self)
        if text.hasPrefix(Self.prefix) {
            guard let bytes = Base64.decode(text.dropFirst(Self.prefix.count)) else { return nil }
            key = bytes
        } else {
            key = secret
        }
        guard key.count >= Self.shortest else { return nil }
    }

    static let prefix = "whsec_"
    static let shortest = 16

    /// The header fields of a message.
    ///
    /// - Parameter time: When it is sent, in seconds since 1970: receivers refuse what is older than some minutes.
    func headers(id: String, time: Int64, body: [UInt8]) -> [(name: String, value: String)] {
        let content = Array("\(id).\(time).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: key))
        return [("webhook-signature", "v1,\(Base64.encode(Array(code)))")]
    }

    /// Reads a secret from a file; one that is named without a slash lies where systemd puts credentials.
    ///
    /// - Throws: A text that says what is wrong, without the secret.
    static func read(_ file: String) throws(SecretProblem) -> WebhookSignature {
        guard let path = CredentialFile.path(of: file) else { throw SecretProblem(CredentialFile.missing(file)) }
        if let text = CredentialFile.exposure(of: path, remedy: "use another secret, here and at the receiver") {
            throw SecretProblem(text)
        }
        var bytes: [UInt8]
        do { bytes = try InputFile.read(path, limit: 4096) } catch {
            throw SecretProblem("\(path.printable) cannot be read: \(error)")
        }
        while let last = bytes.last, [0x0a, 0x0d, 0x20].contains(last) { bytes.removeLast() }
        guard let signature = WebhookSignature(secret: bytes) else {
            throw SecretProblem(
                "\(path.printable) has no secret of \(shortest) bytes at least, or behind whsec_ no base64"
            )
        }
        return signature
    }
}

/// What is wrong with a secret.
struct SecretProblem: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
