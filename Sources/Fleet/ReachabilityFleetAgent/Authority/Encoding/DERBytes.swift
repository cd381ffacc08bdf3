import ServerTrust
import SwiftASN1
import X509

/// What certificates and lists are written in (DER, X.690): each function makes the bytes of one element.
///
/// The library that reads certificates makes them, too, but with times of Foundation, and makes no lists.
enum DERBytes {
    static func node(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap(\.self)
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var (length, digits) = (content.count, [UInt8]())
        while length > 0 {
            digits.insert(UInt8(truncatingIfNeeded: length), at: 0)
            length >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }

    static func sequence(_ content: [UInt8]...) -> [UInt8] { node(0x30, content.flatMap(\.self)) }

    /// With an explicit tag of its context.
    static func tagged(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { node(0xa0 | number, content) }

    /// A number that is not negative, from its bytes, the highest first.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        // A first bit that is set would make it negative.
        return node(0x02, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits)
    }

    static func integer(_ number: Int) -> [UInt8] {
        integer(stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    /// A moment as certificates have it: with two digits of the year until 2049, with four from 2050 on (RFC 5280, 4.1.2.5).
    static func time(_ time: TrustTime) -> [UInt8] {
        let digits = time.description.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let text = digits + [UInt8(ascii: "Z")]
        return time < TrustTime(year: 2050, month: 1, day: 1) ? node(0x17, Array(text.dropFirst(2))) : node(0x18, text)
    }

    static func value(_ value: some DERSerializable) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(value)
        return serializer.serializedBytes
    }

    static func extensions(_ extensions: [Certificate.Extension]) throws -> [UInt8] {
        sequence(try extensions.flatMap { try value($0) })
    }

    /// A body with a signature on it. The key is one on P-256.
    static func signed(_ body: [UInt8], by key: Certificate.PrivateKey) throws -> [UInt8] {
        let signature = try key.sign(bytes: body, signatureAlgorithm: .ecdsaWithSHA256)
        return sequence(body, try algorithm, node(0x03, [0] + signature.rawRepresentation))
    }

    /// ecdsa-with-SHA256 (RFC 5758, 3.2), which has no parameters.
    static var algorithm: [UInt8] {
        get throws { sequence(try value([1, 2, 840, 10045, 4, 3, 2] as ASN1ObjectIdentifier)) }
    }
}

/// Text with DER in it (PEM, RFC 7468).
enum PEMText {
    static func bytes(_ type: String, _ der: [UInt8]) -> [UInt8] {
        Array((PEMDocument(type: type, derBytes: der).pemString + "\n").utf8)
    }
}

extension Certificate.PrivateKey {
    private static let types = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]

    /// The key in a text, whatever stands around it; nil where there is none, or one with a passphrase.
    init?(in text: [UInt8]) {
        for type in Self.types {
            guard let der = PEMBlocks.documents(in: text, type: type).first.flatMap(\.self),
                let key = try? Self(pemDocument: PEMDocument(type: type, derBytes: der))
            else { continue }
            self = key
            return
        }
        return nil
    }

    /// As text in PEM, for its owner's eyes.
    var text: [UInt8] {
        get throws(FleetCertificateError) {
            do { return Array((try serializeAsPEM().pemString + "\n").utf8) } catch { throw .unmade(error.plainText) }
        }
    }
}
