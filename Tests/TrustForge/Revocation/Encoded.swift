package import ServerTrust
package import SwiftASN1
package import X509

/// Manually encoded DER, for values that the library would not create.
package enum Encoded {
    package static func node(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let content = Array(content.joined())
        let count = content.count
        switch count {
        case ..<0x80: return [tag, UInt8(count)] + content
        case ..<0x100: return [tag, 0x81, UInt8(count)] + content
        case ..<0x10000: return [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xff)] + content
        default: return [tag, 0x83, UInt8(count >> 16), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)] + content
        }
    }

    package static func sequence(_ content: [UInt8]...) -> [UInt8] { node(0x30, Array(content.joined())) }

    package static func octets(_ content: [UInt8]) -> [UInt8] { node(0x04, content) }

    package static func bits(_ content: [UInt8]) -> [UInt8] { node(0x03, [0] + content) }

    /// Returns a positive number from its bytes.
    package static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return node(0x02, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits)
    }

    package static func enumerated(_ number: Int) -> [UInt8] { node(0x0a, [UInt8(number)]) }

    package static func identifier(_ identifier: ASN1ObjectIdentifier) -> [UInt8] { der(identifier) }

    /// Returns a GeneralizedTime.
    package static func time(_ time: TrustTime) -> [UInt8] { node(0x18, digits(time)) }

    /// Returns a UTCTime.
    package static func shortTime(_ time: TrustTime) -> [UInt8] { node(0x17, Array(digits(time).dropFirst(2))) }

    /// Returns content with an explicit tag.
    package static func tagged(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { node(0xa0 | number, content) }

    package static func extensions(_ extensions: [Certificate.Extension]) -> [UInt8] {
        sequence(extensions.flatMap { der($0) })
    }

    /// Returns an AlgorithmIdentifier.
    package static func algorithm(_ algorithm: Certificate.SignatureAlgorithm) -> [UInt8] {
        switch algorithm {
        case .ecdsaWithSHA256: sequence(identifier([1, 2, 840, 10045, 4, 3, 2]))
        case .ecdsaWithSHA384: sequence(identifier([1, 2, 840, 10045, 4, 3, 3]))
        case .ed25519: sequence(identifier([1, 3, 101, 112]))
        case .sha256WithRSAEncryption: sequence(identifier([1, 2, 840, 113_549, 1, 1, 11]), node(0x05))
        case .sha1WithRSAEncryption: sequence(identifier([1, 2, 840, 113_549, 1, 1, 5]), node(0x05))
        default: fatalError("\(algorithm) is not forged")
        }
    }

    package static func der(_ value: some DERSerializable) -> [UInt8] {
        var serializer = DER.Serializer()
        do {
            try serializer.serialize(value)
        } catch {
            fatalError("\(value) cannot be encoded: \(error)")
        }
        return serializer.serializedBytes
    }

    /// Returns a body with its algorithm and signature, followed by further content.
    package static func signed(
        _ body: [UInt8],
        by key: ForgeKey,
        algorithm: Certificate.SignatureAlgorithm?,
        label: [UInt8]? = nil,
        and more: [UInt8] = []
    ) -> [UInt8] {
        let algorithm = algorithm ?? key.key.defaultAlgorithm
        guard let signature = try? key.key.sign(bytes: body, signatureAlgorithm: algorithm) else {
            fatalError("the key does not sign with \(algorithm)")
        }
        return sequence(body, label ?? Self.algorithm(algorithm), bits(signature.rawRepresentation), more)
    }

    private static func digits(_ time: TrustTime) -> [UInt8] {
        Array(time.description.utf8.filter { $0 >= 0x30 && $0 <= 0x39 }) + [UInt8(ascii: "Z")]
    }
}
