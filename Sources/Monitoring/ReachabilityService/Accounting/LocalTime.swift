import Foundation
import LinuxSupport

/// A converter between instants and the local time of a time zone. Both are in seconds since 1970. Local time is counted as if it were
/// UTC.
///
/// At a change of daylight saving time, a local time that occurs twice means the first occurrence. A local time that is skipped is
/// converted with the offset before the change.
///
/// Source: RFC 5545, 3.3.5.
package struct LocalTime: Hashable, Sendable {
    let zone: TimeZone

    /// - Parameter name: A name of the time zone database, such as `Europe/Berlin`. The result is nil for an unknown name.
    init?(zone name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    /// Uses the time zone of the machine.
    package init() { zone = .current }

    /// Returns the local time at an instant.
    package func shown(at moment: Int64) -> Int64 { moment + offset(at: moment) }

    /// Returns the instant of a local time.
    package func moment(showing time: Int64) -> Int64 {
        let (before, after) = (offset(at: time - Self.day), offset(at: time + Self.day))
        let candidates = [time - max(before, after), time - min(before, after)]
        return candidates.first { shown(at: $0) == time } ?? time - before
    }

    /// Returns the date, the time of day in seconds, and the abbreviation of the time zone, such as `2026-11-28`, `14:03:07` and `CET`.
    ///
    /// - Parameter moment: The time since 1970.
    package func text(at moment: Duration) -> (date: Substring, time: Substring, zone: String) {
        let seconds = moment.components.seconds
        let parts = Timestamp(real: .seconds(shown(at: seconds))).textInSeconds.dropLast().split(at: "T")
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        return (parts[0], parts[1], zone.abbreviation(for: date) ?? zone.identifier)
    }

    /// Returns the start of the local day that contains an instant. Both are durations since 1970.
    package func startOfDay(at moment: Duration) -> Duration {
        let day = shown(at: moment.components.seconds).floored(by: Self.day)
        return .seconds(self.moment(showing: day * Self.day))
    }

    private func offset(at moment: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(moment))))
    }

    /// The length of a day, in seconds.
    static let day: Int64 = 86400
}
