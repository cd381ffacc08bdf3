extension Error {
    /// The error in words, without the places in source files that some libraries add.
    var plainText: String {
        let words = String(describing: self).split(separator: " ")
        var text = words.filter { !$0.contains(".swift:") }.joined(separator: " ")
        while text.last == ":" { text.removeLast() }
        return text
    }
}
