/// What strangers wrote, made safe to show. Names of hosts, files, keys and interfaces may hold anything.
extension String {
    /// The same text, in which everything that would move the cursor, change the colour, ring the bell or turn the direction of writing
    /// is shown as `\u{1b}`: control and format characters, line and paragraph separators, private and unassigned ones.
    package var printable: String {
        // Nearly all text is plain, and there is much of it.
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

    /// The same, line by line: a text of several lines keeps them.
    package var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows it and does nothing else.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: true
        }
    }
}
