import SwiftASN1
import X509

/// The text of one attribute of a directory name, of whatever string type of X.520 (RFC 5280, 4.1.2.4).
struct AttributeText {
    /// Nil if it is of no such type, or no text of its type.
    let text: String?
    /// Whether the type says which characters these are. Beyond ASCII a TeletexString (T.61) is read as ISO 8859-1, as everybody does
    /// and nobody has promised.
    let isExact: Bool
    /// What to show of it: the text, else `#` and the bytes of its encoding in hexadecimal (RFC 4514, 2.4).
    let readable: String

    init(_ value: RelativeDistinguishedName.Attribute.Value) {
        if let text = String(value) {
            self.text = text
            isExact = true
            readable = text
            return
        }
        let encoded = Self.encoded(value)
        let text = Self.decoded(encoded)
        self.text = text
        isExact = text?.utf8.allSatisfy { $0 < 0x80 } == true || encoded.first != Self.teletex
        readable = text ?? "#" + encoded.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static let teletex: UInt8 = 20

    private static func encoded(_ value: RelativeDistinguishedName.Attribute.Value) -> [UInt8] {
        var serializer = DER.Serializer()
        // What was read can be written.
        try? serializer.serialize(ASN1Any(value))
        return serializer.serializedBytes
    }

    private static func decoded(_ encoded: [UInt8]) -> String? {
        guard let node = try? DER.parse(encoded), case .primitive(let bytes) = node.content,
            node.identifier.tagClass == .universal
        else { return nil }
        switch node.identifier.tagNumber {
        case 12: return String(validating: bytes, as: UTF8.self)
        // NumericString, PrintableString, IA5String and VisibleString: with characters that their type does not have they are still
        // texts to whoever reads them.
        case 18, 19, 22, 26: return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case UInt(teletex): return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case 28: return scalars(bytes, width: 4).flatMap { String(validating: $0, as: UTF32.self) }
        case 30:
            return scalars(bytes, width: 2).flatMap { units in
                String(validating: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
            }
        default: return nil
        }
    }

    /// Numbers of so many bytes each, the highest first; nil if bytes are left over.
    private static func scalars(_ bytes: ArraySlice<UInt8>, width: Int) -> [UInt32]? {
        guard bytes.count % width == 0 else { return nil }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: width).map { start in
            bytes[start..<start + width].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
