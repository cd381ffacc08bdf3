/// The place of an event in a machine's own log: the run of its service, and the event's number in it.
package struct EventPosition: Hashable, Sendable, CustomStringConvertible {
    /// Another for each run of the service, for numbers begin anew.
    package let epoch: String
    package let number: UInt64

    package init(epoch: String, number: UInt64) {
        (self.epoch, self.number) = (epoch, number)
    }

    /// Reads `epoch.number`; nil for another text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...32).contains(parts[0].utf8.count), let number = UInt64(parts[1]),
            parts[0].utf8.allSatisfy({ Self.digits.contains($0) })
        else { return nil }
        self.init(epoch: String(parts[0]), number: number)
    }

    private static let digits = Set("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    package var description: String { "\(epoch).\(number)" }
}
