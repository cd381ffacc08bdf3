import Foundation

/// What clocks on the wall of a time zone show, as seconds since 1970 would be if that were UTC.
///
/// Source: RFC 5545, 3.3.5: a time that comes twice, when clocks are set back, is the first of the two; one that is left out, when they are set
/// forward, is as it would have been without.
struct LocalTime: Hashable, Sendable {
    /// A name of the time zone database, such as `Europe/Berlin`.
    let zone: TimeZone

    init?(zone name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    /// That of the machine.
    init() { zone = .current }

    /// What clocks show at a moment, both in seconds.
    func shown(at moment: Int64) -> Int64 { moment + offset(at: moment) }

    /// When clocks show that.
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
