import ServerTrust

/// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). The obsolete forms are not read.
struct HTTPDate: Hashable, Sendable {
    /// In whole seconds, since the beginning of 1970.
    let sinceEpoch: Duration

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, text.utf8.allSatisfy({ $0 < 0x80 }), text.hasSuffix(" GMT") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            let digits = bytes[range]
            guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
            return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        let name = String(decoding: bytes[8..<11], as: UTF8.self)
        guard let month = Self.months.firstIndex(of: name), let day = number(5..<7), let year = number(12..<16),
            let hour = number(17..<19), let minute = number(20..<22), let second = number(23..<25),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let time = TrustTime(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
        sinceEpoch = .seconds(time.secondsSinceEpoch)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
