import SwiftASN1
import X509

/// A text of a directory name as it is compared (RFC 5280, 7.1; RFC 4518, 2): whatever its string type, in lower case, blanks at the
/// ends gone and those between single, invisible characters gone.
///
/// The compatibility mapping (NFKC) is not known here. A text that it might change is still equal to the same text, but nobody can
/// say that it differs from another.
struct CanonicalText {
    /// Compared by canonical equivalence, as texts of Swift are. The bytes in hexadecimal where they are no text.
    let text: String
    /// Whether a different text is another one.
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

    /// Inside is the same text, outside another.
    func compared(with other: CanonicalText) -> Containment {
        if text == other.text { return .inside }
        return isCertain && other.isCertain ? .outside : .doubtful
    }
}
