extension Error {
    /// The error in words, without the places in source files and the names of errors that some libraries add.
    var plainText: String {
        var words = String(describing: self).split(separator: " ").filter { !$0.contains(".swift:") }
        // `ASN1Error.invalidASN1Object: the words`
        if words.count > 1, words[0].hasSuffix(":"), words[0].contains("Error.") { words.removeFirst() }
        var text = words.joined(separator: " ")
        while text.last == ":" { text.removeLast() }
        // `ASN1Error.truncatedASN1Field`
        guard words.count == 1, text.contains("Error."), let dot = text.lastIndex(of: ".") else { return text }
        return "not encoded as it must be (\(text[dot...].dropFirst()))"
    }
}
