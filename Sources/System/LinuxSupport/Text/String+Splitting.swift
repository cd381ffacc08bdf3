/// Text from outside is split and searched by Unicode scalars, not by characters: a combining mark after a separator, or a carriage return
/// before a line feed, makes both one `Character`, in which the separator is not found.
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

    /// The words between white space of any kind.
    package var words: [Substring] {
        Substring(self).unicodeScalars.split { $0.properties.isWhitespace }.map(Substring.init)
    }

    /// The lines that are not empty, without their ends.
    package var lines: [Substring] {
        Substring(self).unicodeScalars.split { Character($0).isNewline }.map(Substring.init)
    }

    /// Returns the text in which each occurrence of one text is replaced by another.
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
