import FoundationEssentials

/// Base64 with padding (RFC 4648, section 4).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns nil if the text contains anything but complete groups of the alphabet.
    package static func decode(_ text: Substring) -> [UInt8]? { Data(base64Encoded: String(text)).map(Array.init) }
}
