import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// HTML. Interpolated text is escaped, unless it is HTML itself:
///
/// ```swift
/// let html: HTML = "<b>\(name)</b>"
/// ```
///
/// Attributes in literals are always quoted.
package struct HTML: ExpressibleByStringInterpolation, Sendable {
    package private(set) var text: String

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Escapes a text. Invisible characters and those that change the direction of writing become `\u{202e}`.
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
    /// Prevents HTML within a `String`, where it would be escaped later.
    @available(*, deprecated, message: "write the type HTML at the literal around it")
    package mutating func appendInterpolation(_ html: HTML) { appendLiteral(html.text) }

    @available(*, deprecated, message: "write the type HTML at the literal around it")
    package mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { appendLiteral(part.text) } }
}

/// Formats times and lengths for a page. A script shows times in the reader's time zone.
package struct PageClock: Sendable {
    package enum MomentForm: String {
        /// To the second, and with the day if it is not today.
        case clock
        /// To the millisecond.
        case exact
    }

    /// The time of the page, since 1970.
    package let now: Duration

    package init(now: Duration) {
        self.now = now
    }

    /// - Parameter wall: Since 1970.
    package func time(_ wall: Duration, _ form: MomentForm = .clock) -> HTML {
        let text = Timestamp(real: wall).text
        let today = Timestamp(real: now).text.prefix(10)
        let clock = text.dropFirst(11).prefix(form == .exact ? 12 : 8)
        let shown = text.hasPrefix(today) ? "\(clock) UTC" : "\(text.prefix(10)) \(clock) UTC"
        return "<time datetime=\"\(text)\" data-form=\"\(form.rawValue)\">\(shown)</time>"
    }

    /// The length of something that continues. A script counts on.
    package func lasting(since wall: Duration) -> HTML {
        "<span class=\"n\" data-since=\"\(Timestamp(real: wall).text)\">\((now - wall).wholeUnits)</span>"
    }
}

extension MonitoringService.Snapshot {
    var clock: PageClock { PageClock(now: calendar.wall(at: now)) }

    func time(_ instant: LedgerInstant, _ form: PageClock.MomentForm = .clock) -> HTML {
        clock.time(calendar.wall(at: instant), form)
    }

    func lasting(since instant: LedgerInstant) -> HTML { clock.lasting(since: calendar.wall(at: instant)) }

    /// A time and its distance from now, as the end of a sentence.
    func since(_ instant: LedgerInstant) -> HTML { "\(time(instant)) (\(lasting(since: instant)))." }
}

extension Duration {
    /// The two largest units: `3 d 4 h`, `12 min 5 s`, `0 s`. The script of pages uses the same format.
    package var wholeUnits: String {
        var rest = max(.zero, self).nanoseconds / 1_000_000_000
        var parts: [String] = []
        for (unit, name) in [(Int64(86400), "d"), (3600, "h"), (60, "min"), (1, "s")] {
            let isSecond = !parts.isEmpty
            if rest >= unit || (unit == 1 && !isSecond) { parts.append("\(rest / unit)\u{a0}\(name)") }
            rest %= unit
            if isSecond { break }
        }
        return parts.joined(separator: " ")
    }

    /// ``people`` with spaces: `47 ms`, `4.001 s`, `12 min 5 s`.
    package var units: String {
        parts.map { "\($0.number)\u{a0}\($0.unit == "m" ? "min" : $0.unit)" }.joined(separator: " ")
    }
}
