import Crypto
import LinuxSupport
import SwiftASN1
import X509

/// A certificate revocation list that has been read (CertificateList, RFC 5280, 5). Copies share it.
///
/// That it has been read says nothing of its signature: that is checked when a certificate is looked up in it, for only then is it
/// known whose key it must be.
public struct RevocationList: Sendable {
    let content: RevocationListContent

    /// What failures and records call it: its file or URL.
    public let name: String

    /// Reads one in DER.
    ///
    /// - Throws: ``RevocationProblem/malformed(_:)``, and ``RevocationProblem/deltaList``, ``RevocationProblem/indirectList`` or
    ///   ``RevocationProblem/criticalExtension(identifier:)`` for what is not supported.
    public init(derEncoded der: [UInt8], name: String) throws(RevocationProblem) {
        try self.init(der, name: name, checksEntries: true)
    }

    /// - Parameter checksEntries: Whether one that cannot be read is an error now, or when a certificate is looked up.
    private init(_ der: [UInt8], name: String, checksEntries: Bool) throws(RevocationProblem) {
        self.name = name
        do {
            content = try RevocationListContent(der: der)
            if checksEntries { try content.entries.check() }
        } catch let problem as RevocationProblem {
            throw problem
        } catch {
            throw .malformed(error.plainText)
        }
    }

    /// Reads the lists of a file, one in DER or any number in PEM (`X509 CRL`).
    ///
    /// - Parameters:
    ///   - path: The file, which becomes their name.
    ///   - limit: The most bytes of it.
    /// - Throws: ``RevocationProblem``, the first there is: a list that is left out would let pass what is on it.
    public static func read(_ path: String, limit: Int = 64 << 20) throws(RevocationProblem) -> [RevocationList] {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(path, limit: limit)
        } catch {
            guard error != .fileTooLarge else { throw .tooLarge(limit: limit) }
            throw .unreachable(error.description)
        }
        return try lists(in: bytes, name: path, checksEntries: true)
    }

    /// One list in DER or PEM, from somebody whose signature has not been checked: its entries are not looked at before it is.
    package init(bytes: [UInt8], name: String) throws(RevocationProblem) {
        guard let first = try Self.lists(in: bytes, name: name, checksEntries: false).first else {
            throw .malformed("there is no list")
        }
        self = first
    }

    /// Which authority's it is.
    public var issuer: String { content.issuer.readable }

    /// When it was made.
    public var thisUpdate: TrustTime { content.thisUpdate }

    /// When there will be another; nil if it does not say.
    public var nextUpdate: TrustTime? { content.nextUpdate }

    /// How many certificates are on it. They are counted each time.
    public var count: Int { content.entries.count }

    private static func lists(
        in bytes: [UInt8],
        name: String,
        checksEntries: Bool
    ) throws(RevocationProblem) -> [RevocationList] {
        let blocks = PEMBlocks.documents(in: bytes, type: "X509 CRL")
        var lists: [RevocationList] = []
        for block in blocks.isEmpty ? [bytes] : blocks {
            guard let block else { throw .malformed("a block of PEM cannot be decoded") }
            lists.append(try RevocationList(block, name: name, checksEntries: checksEntries))
        }
        return lists
    }
}
