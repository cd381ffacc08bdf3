extension TrustTime: LosslessStringConvertible {
    /// Reads a date of Universal Time, `2027-11-01`, which is its first second, or with the time, `2027-11-01T12:00:00Z` (RFC 3339 with
    /// `Z`, without fractions of a second); nil for everything else, so also for a day that the month does not have.
    public init?(_ text: String) {
        let full = text.utf8.count == 10 ? text + "T00:00:00Z" : text
        guard full.utf8.count == 20 else { return nil }
        let numbers = full.split(whereSeparator: { "-T:Z".contains($0) }).compactMap { Int($0) }
        guard numbers.count == 6 else { return nil }
        self.init(
            year: numbers[0],
            month: numbers[1],
            day: numbers[2],
            hour: numbers[3],
            minute: numbers[4],
            second: numbers[5]
        )
        // What carried over, or was written otherwise, reads otherwise.
        guard description == full else { return nil }
    }
}
