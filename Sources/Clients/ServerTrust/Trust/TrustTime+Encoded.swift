import SwiftASN1

extension TrustTime {
    /// Fractions of a second are left away.
    init(_ time: GeneralizedTime) {
        self.init(
            year: time.year,
            month: time.month,
            day: time.day,
            hour: time.hours,
            minute: time.minutes,
            second: time.seconds
        )
    }

    /// Reads a UTCTime or a GeneralizedTime (Time, RFC 5280, 4.1).
    init(_ node: ASN1Node) throws {
        guard node.identifier == .utcTime else {
            self.init(try GeneralizedTime(derEncoded: node))
            return
        }
        let time = try UTCTime(derEncoded: node)
        self.init(
            year: time.year,
            month: time.month,
            day: time.day,
            hour: time.hours,
            minute: time.minutes,
            second: time.seconds
        )
    }
}
