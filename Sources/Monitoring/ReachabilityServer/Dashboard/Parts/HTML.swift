import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// HTML text. An interpolated String is escaped, an interpolated value of this type is not:
///
/// ```swift
/// let html: HTML = "<b>\(name)</b>"
/// ```
///
/// Attributes in literals must be quoted.
package struct HTML: ExpressibleByStringInterpolation, Sendable {
    package private(set) var text: String

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Escapes a text. Invisible characters and bidirectional controls are replaced with escapes such as `\u{202e}`.
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

    /// Returns the text with relative links: `href="/outages"` becomes `href="../outages"`. Text of users cannot look like a link, because
    /// its quotation marks are escaped.
    ///
    /// - Parameter root: The relative URL of the root of the server.
    func linked(from root: String) -> [UInt8] {
        let links = ["href", "src", "action", "data-copy", "data-worker"].map { Array(" \($0)=\"/".utf8) }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            bytes.append(byte)
            guard byte == UInt8(ascii: "/"), links.contains(where: { bytes.suffix($0.count).elementsEqual($0) }) else {
                continue
            }
            bytes.removeLast()
            bytes += Array(root.utf8)
        }
        return bytes
    }

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
    /// Prevents the interpolation of HTML into a `String`, where it would be escaped later.
    @available(*, deprecated, message: "write the type HTML at the literal around it")
    package mutating func appendInterpolation(_ html: HTML) { appendLiteral(html.text) }

    @available(*, deprecated, message: "write the type HTML at the literal around it")
    package mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { appendLiteral(part.text) } }
}

/// A formatter for the times and durations of a page. The script of the page shows times in the reader's time zone.
package struct PageClock: Sendable {
    /// The precision of a time.
    package enum MomentForm: String {
        /// The time with seconds.
        case clock
        /// The time with milliseconds.
        case exact
        /// The time with seconds and without the date.
        case hour
        /// The hour and the minute.
        case minute
        /// The date.
        case day
    }

    /// The time of the page, since 1970.
    package let now: Duration

    package init(now: Duration) {
        self.now = now
    }

    /// Returns a time in UTC, with the date if it is not today. The head of the page names the zone.
    ///
    /// - Parameter wall: The time since 1970.
    package func time(_ wall: Duration, _ form: MomentForm = .clock) -> HTML {
        let text = Timestamp(real: wall).text
        let today = Timestamp(real: now).text.prefix(10)
        let clock = text.dropFirst(11).prefix(form == .exact ? 12 : 8)
        let shown =
            switch form {
            case .day: text.prefix(10)
            case .minute: clock.prefix(5)
            case .hour: clock
            case .clock, .exact: text.hasPrefix(today) ? clock : "\(text.prefix(10)) \(clock)"
            }
        return "<time datetime=\"\(text)\" data-form=\"\(form.rawValue)\">\(String(shown))</time>"
    }

    /// Returns the duration of an ongoing state. The script of the page updates it.
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

    /// Returns the length of a time. Without an end it is updated by the script of the page.
    func length(from start: LedgerInstant, to end: LedgerInstant?) -> HTML {
        end.map { "\(($0 - start).units)" } ?? lasting(since: start)
    }

    /// Returns a time and the duration since then, as the end of a sentence.
    func since(_ instant: LedgerInstant) -> HTML { "\(time(instant)) (\(lasting(since: instant)))." }
}

extension Duration {
    /// The duration in its two largest units, such as `3 d 4 h`, `12 min 5 s` or `0 s`. The script of pages uses the same format.
    package var wholeUnits: String { Duration.seconds(nanoseconds / 1_000_000_000).units }

    /// The duration in a few digits that are easy to compare: `412 ms`, `4.0 s` or `31 min 8 s`.
    package var rounded: String {
        if roundedMilliseconds < 1000 || self >= .seconds(60) { return self < .seconds(60) ? units : wholeUnits }
        let tenths = min(599, (roundedMilliseconds + 50) / 100)
        return "\(tenths / 10).\(tenths % 10)\u{a0}s"
    }
}
