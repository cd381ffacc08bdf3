import X509

extension DistinguishedName {
    /// Whether the first parts of this name are the other name (RFC 5280, 7.1): upper and lower case and repeated blanks in texts do
    /// not tell names apart.
    func isWithin(_ other: DistinguishedName) -> Bool {
        count >= other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
    }
}

extension RelativeDistinguishedName {
    fileprivate func isSame(as other: RelativeDistinguishedName) -> Bool {
        count == other.count && allSatisfy { attribute in other.contains { attribute.isSame(as: $0) } }
    }
}

extension RelativeDistinguishedName.Attribute {
    fileprivate func isSame(as other: RelativeDistinguishedName.Attribute) -> Bool {
        guard type == other.type else { return false }
        if let text = String(value), let otherText = String(other.value) {
            return Self.folded(text) == Self.folded(otherText)
        }
        return value == other.value
    }

    private static func folded(_ text: String) -> String {
        text.split(separator: " ").joined(separator: " ").lowercased()
    }
}
