import LinuxSupport
import SwiftASN1
package import X509

/// A directory name, converted once for comparison with many others (RFC 5280, 7.1).
struct CanonicalName {
    private struct Attribute {
        let type: ASN1ObjectIdentifier
        let text: CanonicalText
    }

    /// The relative distinguished names. The attributes of each are sorted, regardless of the order of their encoding.
    private let parts: [[Attribute]]

    init(_ name: DistinguishedName) {
        parts = name.map { part in
            let attributes = part.map { Attribute(type: $0.type, text: CanonicalText($0.value)) }
            guard attributes.count > 1 else { return attributes }
            return attributes.map { (($0.type.description, $0.text.text), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Returns whether this name begins with all parts of the other name.
    func contained(in other: CanonicalName) -> Containment {
        guard parts.count >= other.parts.count else { return .outside }
        var result = Containment.inside
        for (part, otherPart) in zip(parts, other.parts) {
            switch Self.compared(part, otherPart) {
            case .inside: continue
            case .outside: return .outside
            case .undetermined: result = .undetermined
            }
        }
        return result
    }

    /// Returns `inside` if the parts are equal. If one of several texts is uncertain, its position in the sorted list
    /// is uncertain too, and therefore the positions of the others.
    private static func compared(_ part: [Attribute], _ other: [Attribute]) -> Containment {
        guard part.count == other.count, zip(part, other).allSatisfy({ $0.type == $1.type }) else { return .outside }
        let comparisons = zip(part, other).map { $0.text.compared(with: $1.text) }
        if comparisons.allSatisfy({ $0 == .inside }) { return .inside }
        let isCertain = (part + other).allSatisfy(\.text.isCertain)
        return comparisons.contains(.undetermined) || part.count > 1 && !isCertain ? .undetermined : .outside
    }
}

/// A text of a directory name in the form in which it is compared (RFC 5280, 7.1; RFC 4518, 2). The string type is
/// ignored. The text is in lower case, without invisible characters and without spaces at its ends. Consecutive spaces
/// are one space.
///
/// The compatibility mapping (NFKC) is not available. A text that this mapping might change equals an identical text,
/// but it is uncertain whether it differs from another text.
struct CanonicalText {
    /// The text, compared by canonical equivalence as Swift strings are. If the value is not text, its bytes in
    /// hexadecimal.
    let text: String
    /// A Boolean value that indicates whether a different text is certainly another name.
    let isCertain: Bool

    init(_ value: RelativeDistinguishedName.Attribute.Value) {
        let decoded = AttributeText(value)
        guard let original = decoded.text else {
            text = decoded.readable
            isCertain = false
            return
        }
        var folded = ""
        var isBlankBefore = true
        for scalar in original.unicodeScalars {
            let properties = scalar.properties
            if properties.isWhitespace {
                if !isBlankBefore { folded.unicodeScalars.append(" ") }
                isBlankBefore = true
            } else if !properties.isDefaultIgnorableCodePoint, properties.generalCategory != .control,
                properties.generalCategory != .format
            {
                folded += properties.lowercaseMapping
                isBlankBefore = false
            }
        }
        if folded.unicodeScalars.last == " " { folded.unicodeScalars.removeLast() }
        text = folded
        isCertain =
            decoded.isExact
            && folded.unicodeScalars.allSatisfy { $0.isASCII || !$0.properties.changesWhenNFKCCaseFolded }
    }

    /// Returns `inside` for the same text, `outside` for a different text, and `undetermined` if a difference is uncertain.
    func compared(with other: CanonicalText) -> Containment {
        if text == other.text { return .inside }
        return isCertain && other.isCertain ? .outside : .undetermined
    }
}

/// The text of one attribute of a directory name, in any string type of X.520 (RFC 5280, 4.1.2.4).
struct AttributeText {
    /// The text; nil if the value has no string type, or is invalid for its type.
    let text: String?
    /// A Boolean value that indicates whether the type defines the characters. TeletexString (T.61) is read as ISO
    /// 8859-1 beyond ASCII, which is common practice but not defined.
    let isExact: Bool
    /// The text for output; `#` and the encoding in hexadecimal if there is no text (RFC 4514, 2.4).
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
        readable = text ?? "#" + encoded.hexadecimal()
    }

    private static let teletex: UInt8 = 20

    private static func encoded(_ value: RelativeDistinguishedName.Attribute.Value) -> [UInt8] {
        var serializer = DER.Serializer()
        // Serialization of a parsed value does not fail.
        try? serializer.serialize(ASN1Any(value))
        return serializer.serializedBytes
    }

    private static func decoded(_ encoded: [UInt8]) -> String? {
        guard let node = try? DER.parse(encoded), case .primitive(let bytes) = node.content,
            node.identifier.tagClass == .universal
        else { return nil }
        switch node.identifier.tagNumber {
        case 12: return String(validating: bytes, as: UTF8.self)
        // NumericString, PrintableString, IA5String and VisibleString. Characters that the type does not permit are
        // accepted, as in other implementations.
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

    /// Returns the big-endian numbers of `width` bytes each; nil if bytes remain.
    private static func scalars(_ bytes: ArraySlice<UInt8>, width: Int) -> [UInt32]? {
        guard bytes.count % width == 0 else { return nil }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: width).map { start in
            bytes[start..<start + width].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

extension DistinguishedName {
    /// The name as text, the most specific part first: `CN=Root,O=Forge` (RFC 4514). Supports all string types.
    package var readable: String {
        reversed().map { part in
            part.map { "\(Self.key($0.type))=\(Self.escaped(AttributeText($0.value)))" }.joined(separator: "+")
        }.joined(separator: ",")
    }

    private static func key(_ type: ASN1ObjectIdentifier) -> String {
        switch type {
        case .RDNAttributeType.commonName: "CN"
        case .RDNAttributeType.countryName: "C"
        case .RDNAttributeType.localityName: "L"
        case .RDNAttributeType.stateOrProvinceName: "ST"
        case .RDNAttributeType.organizationName: "O"
        case .RDNAttributeType.organizationalUnitName: "OU"
        case .RDNAttributeType.streetAddress: "STREET"
        case .RDNAttributeType.domainComponent: "DC"
        case .RDNAttributeType.emailAddress: "E"
        default: type.description
        }
    }

    /// Returns the text of a value with a backslash before special characters (RFC 4514, 2.4).
    private static func escaped(_ value: AttributeText) -> String {
        guard let text = value.text else { return value.readable }
        let blanks = text.prefix { $0 == " " || $0 == "#" }
        let end = text.dropFirst(blanks.count).reversed().prefix { $0 == " " }.count
        let middle = text.dropFirst(blanks.count).dropLast(end).map { ",+\"\\<>;".contains($0) ? "\\\($0)" : "\($0)" }
        let whole = blanks.map { "\\\($0)" } + middle + Array(repeating: "\\ ", count: end)
        return whole.joined().visible
    }
}

extension String {
    /// The text with invisible characters, and those that move the cursor of a terminal, replaced by the hexadecimal
    /// bytes of their UTF-8, each after a backslash (RFC 4514, 2.4).
    var visible: String {
        guard unicodeScalars.contains(where: \.isHidden) else { return self }
        return unicodeScalars.map { scalar in
            guard scalar.isHidden else { return String(scalar) }
            return scalar.utf8.map { "\\" + $0.hexadecimal }.joined()
        }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        default: false
        }
    }
}
