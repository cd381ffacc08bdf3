extension String {
    /// What a stranger wrote, safe to print: what would move the cursor, change the colour or turn the direction of writing is shown as
    /// `\u{1b}`.
    var printable: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
