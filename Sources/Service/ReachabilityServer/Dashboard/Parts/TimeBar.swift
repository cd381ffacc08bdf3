import LinuxPrimitives
package import ReachabilityLedger

/// A picture of a time to scale: each state has a colour and a pattern of its own, and what was not observed stays open.
package struct TimeBar {
    let from: LedgerInstant
    let to: LedgerInstant
    /// In pixels.
    let height: Int

    package init(from: LedgerInstant, to: LedgerInstant, height: Int = 28) {
        (self.from, self.to, self.height) = (from, to, height)
    }

    /// - Parameter label: What it shows, for those who do not see it.
    package func svg(_ intervals: [LedgerInterval], label: String) -> HTML {
        let rows = [LedgerAccount.up, .maintenance, .us, .upstream, .them]
        let parts = rows.flatMap { account in rects(intervals.filter { $0.state.account == account }, account) }
        return """
            <svg class="bar" height="\(height)" width="100%" role="img" aria-label="\(label)">\
            <rect class="gap" width="100%" height="100%" fill="url(#p-unknown)"/>\(parts)</svg>
            """
    }

    /// What is too short to be told from its neighbour is drawn once.
    private func rects(_ intervals: [LedgerInterval], _ account: LedgerAccount) -> [HTML] {
        var parts: [HTML] = []
        var drawn = -1.0
        for interval in intervals.sorted(by: { $0.start < $1.start }) {
            let (left, right) = (share(interval.start), share(interval.end ?? to))
            guard right > left, right > drawn + Self.smallest || left > drawn else { continue }
            drawn = max(right, left + Self.smallest)
            // What happened a moment ago is not cut off at the end of a long time.
            let place = account == .up ? left : min(left, 1 - Self.edge)
            let (x, width) = (place.percentText, (right - left).percentText)
            let paint: HTML = account == .up ? "" : " fill=\"url(#p-\(account.rawValue))\""
            parts.append(
                "<rect class=\"s-\(account.rawValue)\" x=\"\(x)%\" width=\"\(width)%\" height=\"100%\"\(paint)/>"
            )
        }
        return parts
    }

    private static let smallest = 0.0005
    /// About two pixels, as thick as the line around an outage.
    private static let edge = 0.003

    private func share(_ instant: LedgerInstant) -> Double {
        let whole = Double((to - from).nanoseconds)
        return whole > 0 ? min(1, max(0, Double((instant - from).nanoseconds) / whole)) : 0
    }

    /// For example `the last 24 h: up 23 h 59 min, this machine 12 s`.
    static func label(_ name: String, _ availability: Availability) -> String {
        let parts = LedgerAccount.allCases.compactMap { account in
            let time = availability.duration(account)
            return time > .zero ? "\(Words.name(account)) \(time.units)" : nil
        }
        return "\(name): " + parts.joined(separator: ", ")
    }
}
