import Crypto
import FoundationEssentials
import LinuxSupport

/// Pins that people can keep: more than one, with a date after which they only report, so that a forgotten client comes back to life.
///
/// ```swift
/// let pins = try PinSet(
///     ["sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=", "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="],
///     expires: TrustTime(year: 2027, month: 11, day: 1)
/// )
/// ```
public struct PinSet: Sendable {
    /// Hears of pins that did not match; called on the thread that evaluates, so it should not wait.
    public typealias Reporter = @Sendable (PinReport) -> Void

    /// In the order given, without repetitions.
    public let pins: [PublicKeyPin]

    /// From this moment on a mismatch is only reported; nil for never.
    public let expires: TrustTime?

    /// Whether a mismatch is only reported: to try pins before they count.
    public let reportsOnly: Bool

    let reporter: Reporter?

    /// - Parameters:
    ///   - pins: `sha256/BASE64` each.
    ///   - requiresBackup: Whether one pin alone is an error. It should be: a backup is a key that no server uses yet.
    ///   - expires: From when on a mismatch is only reported.
    ///   - reportsOnly: Whether a mismatch is only reported.
    ///   - reporter: Hears of every mismatch.
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

    /// The same with pins that have been read.
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

    /// Whether a mismatch at that time refuses the server.
    public func isEnforced(at time: TrustTime) -> Bool {
        guard !reportsOnly else { return false }
        guard let expires else { return true }
        return time < expires
    }
}

/// A server whose chain has none of the pins.
public struct PinReport: Hashable, Sendable {
    /// The host that was meant.
    public let host: String
    /// When, by the trust's time.
    public let time: TrustTime
    /// What would have been right.
    public let expected: [PublicKeyPin]
    /// What there is on the chain, the server's own first.
    public let presented: [PublicKeyPin]
    /// The chain.
    public let chain: [TrustCertificate]
    /// Whether the server was refused for it; not so in a set that has expired or only reports.
    public let isEnforced: Bool
}

/// The SHA-256 of a public key as it is encoded in certificates, in the form of curl and OkHttp: `sha256/` and 44 characters of
/// Base64. The hash is that of RFC 7469, section 2.4.
///
/// ```sh
/// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyPin: Hashable, Sendable {
    /// The 32 bytes.
    public let digest: [UInt8]

    /// The pin of a key.
    public init(_ key: ServerPublicKey) {
        digest = Array(SHA256.hash(data: key.subjectPublicKeyInfo))
    }

    /// The pin of a certificate's key: it stays when the certificate is renewed with the same key.
    public init(_ certificate: TrustCertificate) {
        self.init(certificate.publicKey)
    }

    /// Reads `sha256/BASE64`, or `sha256//BASE64` as curl has it.
    ///
    /// - Throws: ``PinError/notAPin(_:)`` for everything else, so also for `sha1/`.
    public init(_ text: String) throws(PinError) {
        guard text.hasPrefix("sha256/") else { throw .notAPin(text) }
        let encoded = text.dropFirst(text.hasPrefix("sha256//") ? 8 : 7)
        // The canonical text alone: 43 characters and one for filling.
        guard let bytes = Base64.decode(encoded), bytes.count == 32, Base64.encode(bytes) == encoded else {
            throw .notAPin(text)
        }
        digest = bytes
    }
}

extension PublicKeyPin: CustomStringConvertible {
    /// `sha256/` and Base64.
    public var description: String { "sha256/" + Base64.encode(digest) }
}

/// Why pins cannot be used.
public enum PinError: Error, Hashable, Sendable {
    /// The text is no pin.
    case notAPin(String)
    /// A pin set without pins would trust nobody.
    case empty
    /// There is one pin alone: when its key is lost or stolen, no client can be reached any more.
    case backupPinMissing
}

extension PinError: CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .notAPin(let text):
            "\"\(text)\" is no pin: write sha256/ and the 44 characters of Base64 that stand for the SHA-256 of the key"
        case .empty: "the pin set is empty: give two pins at least"
        case .backupPinMissing:
            "the pin set has one pin and no backup: add the pin of a key that is kept elsewhere, or say that none is wanted"
        }
    }
}

/// Base64 with padding (RFC 4648, section 4).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns nil if the text contains anything but complete groups of the alphabet.
    package static func decode(_ text: Substring) -> [UInt8]? { Data(base64Encoded: String(text)).map(Array.init) }
}
