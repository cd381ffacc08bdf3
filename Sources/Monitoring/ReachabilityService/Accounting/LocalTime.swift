import Foundation

/// The local time of a time zone, in seconds as if it were UTC.
///
/// Source: RFC 5545, 3.3.5: of a time that occurs twice the first one counts; a time that is left out is read with the offset before the
/// change.
struct LocalTime: Hashable, Sendable {
    /// A name of the time zone database, such as `Europe/Berlin`.
    let zone: TimeZone

    init?(zone name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    /// The time zone of the machine.
    init() { zone = .current }

    /// Returns the local time at a moment, both in seconds.
    func shown(at moment: Int64) -> Int64 { moment + offset(at: moment) }

    /// Returns the moment of a local time.
    func moment(showing time: Int64) -> Int64 {
        let (before, after) = (offset(at: time - Self.day), offset(at: time + Self.day))
        let candidates = [time - max(before, after), time - min(before, after)]
        return candidates.first { shown(at: $0) == time } ?? time - before
    }

    private func offset(at moment: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(moment))))
    }

    static let day: Int64 = 86400
}
