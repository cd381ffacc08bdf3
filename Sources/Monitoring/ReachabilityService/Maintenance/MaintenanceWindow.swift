import LinuxSupport

/// `[[maintenance]]`: when work is planned, so that what is lost then counts for nobody.
package struct MaintenanceWindow: Hashable, Sendable {
    /// When it begins.
    enum Begin: Hashable, Sendable {
        /// At a moment, since 1970.
        case once(Duration)
        /// Each day, or each week on a day (0 is Monday), so many seconds after midnight.
        case each(weekday: Int?, second: Int64, LocalTime)
    }

    /// Of which targets; nil for all.
    package let targets: Set<String>?
    let begin: Begin
    /// How long it takes, whatever clocks are set to meanwhile.
    package let length: Duration

    func concerns(_ target: String) -> Bool { targets?.contains(target) ?? true }

    /// Whether it lasts at a moment, since 1970: its end is not in it.
    func contains(_ moment: Duration) -> Bool {
        begins(around: moment).contains { $0 <= moment && moment < $0 + length }
    }

    /// The next moment at which it begins or ends; nil where it is over for good.
    func change(after moment: Duration) -> Duration? {
        begins(around: moment).flatMap { [$0, $0 + length] }.filter { $0 > moment }.min()
    }

    /// When it begins, as far back and ahead as matters at a moment.
    private func begins(around moment: Duration) -> [Duration] {
        switch begin {
        case .once(let begin): return [begin]
        case .each(let weekday, let second, let clock):
            let today = Self.floor(clock.shown(at: moment.components.seconds), LocalTime.day)
            let back = length.components.seconds / LocalTime.day + 1
            return (-back...8).map { today + $0 }.filter { day in
                // 1970 began with a Thursday.
                weekday.map { (day + 3 - Int64($0)) % 7 == 0 } ?? true
            }.map { .seconds(clock.moment(showing: $0 * LocalTime.day + second)) }
        }
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }
}
