import Glibc

/// `Date` of HTTP (RFC 9110, 5.6.7).
enum WebDate {
    /// - Parameter moment: Since the beginning of 1970, Universal Time.
    static func text(_ moment: Duration) -> String {
        var seconds = time_t(moment.components.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        // No program here sets a locale, so the names are English.
        let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
