import Crypto
import FoundationEssentials
import LinuxSupport

/// A set of public key pins with a backup pin and an expiry date. After the expiry date a mismatch is only reported, so
/// that a client that was not updated can connect again.
///
/// ```swift
/// let pins = try PinSet(
///     ["sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=", "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="],
///     expires: TrustTime(year: 2027, month: 11, day: 1)
/// )
/// ```
public struct PinSet: Sendable {
    /// A function that receives each mismatch. It is called on the thread of the evaluation, so it must not block.
    public typealias Reporter = @Sendable (PinReport) -> Void

    /// The pins in the given order, without duplicates.
    public let pins: [PublicKeyPin]

    /// The time from which a mismatch is only reported; nil for never.
    public let expires: TrustTime?

    /// A Boolean value that indicates whether a mismatch is only reported, to test pins before they are enforced.
    public let reportsOnly: Bool

    let reporter: Reporter?

    /// Creates a set from the text of pins.
    ///
    /// - Parameters:
    ///   - pins: The pins, `sha256/BASE64` each.
    ///   - requiresBackup: A Boolean value that indicates whether a single pin is an error. A backup is the pin of a
    ///     key that no server uses yet, so keep this true.
    ///   - expires: The time from which a mismatch is only reported; nil for never.
    ///   - reportsOnly: A Boolean value that indicates whether a mismatch is only reported.
    ///   - reporter: Receives every mismatch.
    /// - Throws: ``PinError``.
    public init(
        _ pins: [String],
        requiresBackup: Bool = true,
        expires: TrustTime? = nil,
        reportsOnly: Bool = false,
        reporter: Reporter? = nil
    ) throws(PinError) {
        var read: [PublicKeyPin] = []
        for text in pins { read.append(try PublicKeyPin(text)) }
        try self.init(
            read,
            requiresBackup: requiresBackup,
            expires: expires,
            reportsOnly: reportsOnly,
            reporter: reporter
        )
    }

    /// Creates a set from parsed pins. The parameters are the same as for texts.
    public init(
        _ pins: [PublicKeyPin],
        requiresBackup: Bool = true,
        expires: TrustTime? = nil,
        reportsOnly: Bool = false,
        reporter: Reporter? = nil
    ) throws(PinError) {
        var seen: Set<PublicKeyPin> = []
        self.pins = pins.filter { seen.insert($0).inserted }
        guard !self.pins.isEmpty else { throw .empty }
        guard self.pins.count > 1 || !requiresBackup else { throw .backupPinMissing }
        self.expires = expires
        self.reportsOnly = reportsOnly
        self.reporter = reporter
    }

    /// Returns whether a mismatch at this time refuses the server.
    public func isEnforced(at time: TrustTime) -> Bool {
        guard !reportsOnly else { return false }
        guard let expires else { return true }
        return time < expires
    }
}

/// A report of a server whose chain has none of the pins.
public struct PinReport: Hashable, Sendable {
    /// The host of the connection.
    public let host: String
    /// The time of the evaluation.
    public let time: TrustTime
    /// The pins of the set.
    public let expected: [PublicKeyPin]
    /// The pins of the chain's keys, the server's own first.
    public let presented: [PublicKeyPin]
    /// The chain, the server's certificate first.
    public let chain: [TrustCertificate]
    /// A Boolean value that indicates whether the server was refused. False if the set has expired or only reports.
    public let isEnforced: Bool
}

/// A pin: the SHA-256 digest of a public key (SubjectPublicKeyInfo, RFC 7469, 2.4). The text has the form of curl and
/// OkHttp: `sha256/` and 44 characters of Base64.
///
/// ```sh
/// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyPin: Hashable, Sendable {
    /// The 32 bytes of the digest.
    public let digest: [UInt8]

    /// Creates the pin of a key.
    public init(_ key: ServerPublicKey) {
        digest = Array(SHA256.hash(data: key.subjectPublicKeyInfo))
    }

    /// Creates the pin of a certificate's key. It remains the same if the certificate is renewed with the same key.
    public init(_ certificate: TrustCertificate) {
        self.init(certificate.publicKey)
    }

    /// Parses `sha256/BASE64`, or `sha256//BASE64` as curl writes it.
    ///
    /// - Throws: ``PinError/notAPin(_:)`` for any other text, including `sha1/`.
    public init(_ text: String) throws(PinError) {
        guard text.hasPrefix("sha256/") else { throw .notAPin(text) }
        let encoded = text.dropFirst(text.hasPrefix("sha256//") ? 8 : 7)
        // Only the canonical encoding is accepted: 43 characters and one padding character.
        guard let bytes = Base64.decode(encoded), bytes.count == 32, Base64.encode(bytes) == encoded else {
            throw .notAPin(text)
        }
        digest = bytes
    }
}

extension PublicKeyPin: CustomStringConvertible {
    /// The text of the pin: `sha256/` and Base64.
    public var description: String { "sha256/" + Base64.encode(digest) }
}

/// The reason why pins are not usable.
public enum PinError: Error, Hashable, Sendable {
    /// The text is not a pin.
    case notAPin(String)
    /// The set has no pins, so no server would be trusted.
    case empty
    /// The set has a single pin. If its key is lost or stolen, clients can no longer connect.
    case backupPinMissing
}

extension PinError: CustomStringConvertible {
    /// The reason, and a hint.
    public var description: String {
        switch self {
        case .notAPin(let text):
            "\"\(text)\" is not a pin; write sha256/ and the SHA-256 of the public key in Base64 (44 characters)"
        case .empty: "the pin set is empty; add at least two pins"
        case .backupPinMissing:
            "the pin set has no backup pin; add the pin of a key that is not in use, or disable the requirement"
        }
    }
}

/// Base64 with padding (RFC 4648, section 4).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns nil if the text contains anything but complete groups of the alphabet.
    package static func decode(_ text: Substring) -> [UInt8]? { Data(base64Encoded: String(text)).map(Array.init) }
}
