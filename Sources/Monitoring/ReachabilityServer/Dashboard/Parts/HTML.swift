import LinuxSupport

/// A piece of HTML. What is put into a literal of it is text and is escaped, unless it is HTML itself:
///
/// ```swift
/// let html: HTML = "<b>\(name)</b>"
/// ```
///
/// Attributes in literals are quoted, always.
package struct HTML: ExpressibleByStringInterpolation, Sendable {
    package private(set) var text: String

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// A text from anywhere: markup is shown, and what would turn the direction of writing or is not to be seen is shown as `\u{202e}`.
    package init(of text: String) {
        var escaped = ""
        for character in text.printable.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        self.text = escaped
    }

    package static func + (left: HTML, right: HTML) -> HTML { "\(left)\(right)" }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ html: HTML) { text += html.text }

        package mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }

        package mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }

        package mutating func appendInterpolation(_ value: String) { text += HTML(of: value).text }

        package mutating func appendInterpolation(_ number: Int) { text += String(number) }
    }
}

extension String.StringInterpolation {
    /// HTML that gets into a text would be shown as such: the literal around it is to be `HTML`.
    @available(*, deprecated, message: "write the type HTML at the literal around it")
    package mutating func appendInterpolation(_ html: HTML) { appendLiteral(html.text) }

    /// The same of several.
    @available(*, deprecated, message: "write the type HTML at the literal around it")
    package mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { appendLiteral(part.text) } }
}
