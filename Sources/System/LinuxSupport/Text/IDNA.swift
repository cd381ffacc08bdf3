@_spi(_Unicode) import Swift

/// Host names of other scripts as ASCII (RFC 5891; the mapping is the part of UTS 46 that people need: case, composition, dots).
///
/// Names that would need the rest of the tables, full-width letters for example, are refused: what is not understood names no host, and
/// matches no certificate.
package enum IDNA {
    /// The name in lower case with A-labels; nil when it cannot be encoded.
    package static func ascii(_ text: String) -> String? {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        let dotted = String(String.UnicodeScalarView(text.unicodeScalars.map { dots.contains($0) ? "." : $0 }))
        var labels: [String] = []
        for label in dotted.split(at: ".", omittingEmptySubsequences: false) {
            guard let encoded = encode(label) else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    /// The ideographic, full-width and half-width full stops (UTS 46, section 2.3).
    private static let dots: Set<Unicode.Scalar> = ["\u{3002}", "\u{ff0e}", "\u{ff61}"]

    private static func encode(_ label: Substring) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return label.lowercased() }
        let scalars = Array(label.lowercased()._nfc)
        guard let first = scalars.first, !isMark(first), scalars.allSatisfy(isAllowed) else { return nil }
        // Hyphens in the third and fourth place are for A-labels alone.
        guard !(scalars.count >= 4 && scalars[2] == "-" && scalars[3] == "-") else { return nil }
        guard first != "-", scalars.last != "-" else { return nil }
        if scalars.allSatisfy(\.isASCII) { return String(String.UnicodeScalarView(scalars)) }
        return Punycode.encode(scalars).map { "xn--" + $0 }
    }

    /// Letters, marks and digits that are the same after compatibility mapping. `ß` and the final sigma are letters of their own
    /// since IDNA 2008 and stay.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "-" || scalar == "\u{df}" || scalar == "\u{3c2}" { return true }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber:
            return !scalar.properties.changesWhenNFKCCaseFolded
        default:
            return false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
