// MARK: - Escaping

extension String {
    /// The text with each scalar that a terminal does not display written as `\u{1b}`: control and format characters,
    /// line and paragraph separators, private-use and unassigned scalars. Use it for names and messages from outside.
    package var printable: String {
        // Most text is ASCII.
        if utf8.allSatisfy({ 0x20...0x7e ~= $0 }) { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }

    /// The ``printable`` form of a text with several lines. Line feeds are kept.
    package var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
    }

    /// The replacement for a secret.
    package static let mask = "***"

    /// A URL or a path with a masked query, for example `/health?***`, because a query may contain a token.
    package var secretsMasked: String {
        // By bytes, because a question mark with a combining accent is a different character but still begins the
        // query.
        let mark = utf8.firstIndex(of: UInt8(ascii: "?")) ?? endIndex
        let start = self[..<mark].firstRange(of: "://")?.upperBound ?? startIndex
        let end = self[start..<mark].utf8.firstIndex(of: UInt8(ascii: "/")) ?? mark
        let at = self[start..<end].utf8.lastIndex(of: UInt8(ascii: "@"))
        let shown = at.map { String(self[..<start]) + Self.mask + self[$0..<mark] } ?? String(self[..<mark])
        return mark < endIndex ? shown + "?" + Self.mask : shown
    }

    /// A URL with everything after the host masked, for example `https://example.org/***`.
    package var hostAlone: String {
        guard let scheme = utf8.firstRange(of: "://".utf8) else { return Self.mask }
        let rest = utf8[scheme.upperBound...]
        let end = rest.firstIndex { "/?#\\".utf8.contains($0) } ?? rest.endIndex
        guard !rest[..<end].contains(UInt8(ascii: "@")) else { return self[..<scheme.upperBound] + Self.mask }
        return end == endIndex ? self : self[..<end] + "/" + Self.mask
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether a terminal displays the scalar and does nothing else.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: true
        }
    }
}

// MARK: - Splitting

/// Text from outside is split and searched by Unicode scalars, not by characters. A combining mark after a separator,
/// or a carriage return before a line feed, forms one `Character` with it, in which the separator would not be found.
extension StringProtocol {
    /// Returns the parts between the occurrences of a separator.
    package func split(
        at separator: Unicode.Scalar,
        maxSplits: Int = .max,
        omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        Substring(self).unicodeScalars.split(
            separator: separator,
            maxSplits: maxSplits,
            omittingEmptySubsequences: omittingEmptySubsequences
        ).map(Substring.init)
    }

    /// The words, separated by any white space.
    package var words: [Substring] {
        Substring(self).unicodeScalars.split { $0.properties.isWhitespace }.map(Substring.init)
    }

    /// The lines that are not empty, without line breaks.
    package var lines: [Substring] {
        Substring(self).unicodeScalars.split { Character($0).isNewline }.map(Substring.init)
    }

    /// Returns the text with the occurrences of one string replaced by another.
    package func replacing(scalars old: String, with new: String, maxReplacements: Int = .max) -> String {
        String(
            String(self).unicodeScalars.replacing(
                old.unicodeScalars,
                with: new.unicodeScalars,
                maxReplacements: maxReplacements
            )
        )
    }
}

/// A host and a port as text: `example.org:443`, `192.0.2.1`, `[2001:db8::1]:443`. Neither is checked.
package struct HostAndPort {
    /// The host without brackets.
    package let host: String
    /// A Boolean value that indicates whether the host is in brackets.
    package let isBracketed: Bool
    /// The text after the colon; nil without a colon.
    package let digits: Substring?

    /// Returns nil if a bracket is not closed, or if another text than a port follows it.
    ///
    /// - Parameter allowsBareAddress: True if a text with several colons and without brackets is a host. Otherwise the
    ///   result for such a text is nil.
    package init?(_ text: some StringProtocol, allowsBareAddress: Bool = false) {
        isBracketed = text.unicodeScalars.first == "["
        let parts = text.split(
            at: isBracketed ? "]" : ":",
            maxSplits: isBracketed ? 1 : .max,
            omittingEmptySubsequences: false
        )
        if isBracketed {
            guard parts.count == 2, parts[1].isEmpty || parts[1].unicodeScalars.first == ":" else { return nil }
            host = String(parts[0].unicodeScalars.dropFirst())
            digits = parts[1].isEmpty ? nil : Substring(parts[1].unicodeScalars.dropFirst())
        } else if parts.count <= 2 {
            (host, digits) = (String(parts[0]), parts.dropFirst().first)
        } else {
            guard allowsBareAddress else { return nil }
            (host, digits) = (String(text), nil)
        }
    }

    /// Returns the port, or another one without a colon. Returns nil for a text that is not a number from 1 to 65535.
    package func port(orElse port: UInt16) -> UInt16? {
        guard let digits else { return port }
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt16(digits) else { return nil }
        return number > 0 ? number : nil
    }
}

// MARK: - Percent-encoding

extension StringProtocol {
    /// The text percent-encoded for a path segment or a query value. All characters except unreserved ones are encoded.
    ///
    /// Source: RFC 3986, sections 2.1 and 2.3.
    package var percentEncoded: String {
        percentEncoded { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": true
            default: false
            }
        }
    }

    /// Returns the text with each scalar unchanged or percent-encoded as UTF-8, for example `%C3%A4`.
    package func percentEncoded(keeping isKept: (Unicode.Scalar) -> Bool) -> String {
        var text: [UInt8] = []
        for scalar in unicodeScalars {
            if isKept(scalar) {
                text += scalar.utf8
            } else {
                for byte in scalar.utf8 { text += [UInt8(ascii: "%"), (byte >> 4).digit, (byte & 15).digit] }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a percent-encoded text.
    ///
    /// - Parameter keepingInvalid: If true, a percent sign without two hexadecimal digits is kept. If false, the result
    ///   for such a text is nil.
    package func percentDecoded(keepingInvalid: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            if rest.count >= 2, let value = [UInt8](hexadecimal: rest.prefix(2)) {
                bytes += value
                rest = rest.dropFirst(2)
            } else if keepingInvalid {
                bytes.append(byte)
            } else {
                return nil
            }
        }
        return bytes
    }
}

// MARK: - Hexadecimal digits and hashes

extension Sequence<UInt8> {
    /// Returns two lower-case digits for each byte.
    package func hexadecimal(separator: String = "") -> String {
        map(\.hexadecimal).joined(separator: separator)
    }

    /// The 64-bit FNV-1a hash, which is the same on every machine. Collisions can be made on purpose. Inlined, because
    /// generic code for bytes is slow.
    @inlinable package var contentHash: UInt64 {
        reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

extension UnsignedInteger where Self: FixedWidthInteger {
    /// The number with all its lower-case hexadecimal digits, for example eight for a `UInt32`.
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
    }
}

extension Array<UInt8> {
    /// Parses two ASCII hexadecimal digits per byte. Returns nil for any other text.
    package init?(hexadecimal text: some Collection<UInt8>) {
        let digits = text.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension UInt8 {
    /// The upper-case digit of a number below 16.
    fileprivate var digit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") + self - 10 }
}

// MARK: - Names

extension [String] {
    /// Returns the word that is most similar to a text. It differs in at most two letters and in at most half of its letters.
    package func nearest(to text: String) -> String? {
        let distances = map { (word: $0, distance: Self.distance(text, Array<Character>($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= Swift.min(2, best.word.count / 2) ? best.word : nil
    }

    /// Returns the number of letters to insert, delete or replace (Levenshtein distance).
    private static func distance(_ one: String, _ other: [Character]) -> Int {
        var row = [Int](0...other.count)
        for (index, letter) in one.enumerated() {
            var next = [index + 1]
            for (column, otherLetter) in other.enumerated() {
                let replaced = row[column] + (letter == otherLetter ? 0 : 1)
                next.append(Swift.min(replaced, row[column + 1] + 1, next[column] + 1))
            }
            row = next
        }
        return row[other.count]
    }
}

extension String {
    /// A Boolean value that indicates whether the text has 1 to 64 ASCII letters, digits, `.`, `_` and `-`, and nothing else.
    package var isIdentifier: Bool {
        (1...64).contains(utf8.count)
            && unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
                default: false
                }
            }
    }
}

/// The names of sites and devices of a fleet.
package enum FleetName {
    /// The rule for error messages.
    package static let rule = "1 to 64 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit"

    /// Returns whether a text is a valid name: an identifier that starts with a letter or digit. A name is used as a
    /// topic level, as a part of a file name, and in a certificate.
    package static func isValid(_ text: String) -> Bool {
        text.isIdentifier && text.first.map { !"._-".contains($0) } == true
    }
}
