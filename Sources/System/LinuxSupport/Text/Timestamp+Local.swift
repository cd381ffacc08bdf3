import Glibc

extension Timestamp {
    /// The time zone of the user at a moment, in seconds east of Greenwich: `TZ`, else that of the machine.
    ///
    /// C counterpart: `localtime_r(3)`.
    package static func zoneOffset(at real: Duration) -> Int64 {
        var seconds = time_t(real.components.seconds)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
    }

    /// Replaces each time of UTC in a text by the local time, for example `2026-11-21T08:15:30.123Z` by
    /// `2026-11-21T09:15:30.123+01:00`.
    ///
    /// - Parameter offset: The time zone at a moment, in seconds east of Greenwich. Without an offset, a time stays as it is.
    package static func localized(_ text: [UInt8], offset: (Duration) -> Int64 = zoneOffset) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        // The shortest time is `2026-11-21T08:15:30Z`.
        while let end = rest.firstIndex(of: UInt8(ascii: "Z")) {
            let word = rest[..<end].suffix(while: {
                UInt8(ascii: "0")...UInt8(ascii: ":") ~= $0 || "-.T".utf8.contains($0)
            })
            let time = word + [UInt8(ascii: "Z")]
            result += rest[..<word.startIndex]
            if word.count >= 19, let real = real(of: String(decoding: time, as: UTF8.self)) {
                result += local(real, time, offset(real))
            } else {
                result += time
            }
            rest = rest[(end + 1)...]
        }
        return result + rest
    }

    private static func local(_ real: Duration, _ time: ArraySlice<UInt8>, _ offset: Int64) -> [UInt8] {
        // RFC 3339 has no seconds in an offset.
        let minutes = offset / 60
        guard minutes != 0 else { return Array(time) }
        let text = Timestamp(real: real + .seconds(minutes * 60)).text.utf8.dropLast()
        let (hour, minute) = (abs(minutes) / 60, abs(minutes) % 60)
        let zone = "\(minutes < 0 ? "-" : "+")\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
        return Array(text) + Array(zone.utf8)
    }
}

extension ArraySlice<UInt8> {
    /// The longest end whose bytes all pass.
    fileprivate func suffix(while passes: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = lastIndex { !passes($0) }.map { $0 + 1 } ?? startIndex
        return self[start...]
    }
}
