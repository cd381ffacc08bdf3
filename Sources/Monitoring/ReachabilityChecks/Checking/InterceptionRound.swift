import LinuxSupport
import NetworkReachability
import ServerTrustNIO

/// Asks at an address that nobody has: whoever answers there answers in the name of everybody.
struct InterceptionRound: Sendable {
    let site: CheckSite
    /// Of the round that this is a part of; nil for none.
    let clock: RoundClock?

    /// So long whoever intercepts may take, who is on the way: less than a second SYN.
    static let nearby = Duration.milliseconds(900)
    /// So long he may take where the target has answered already, to whom the way is longer.
    private static let next = Duration.milliseconds(600)

    /// Over each family, for a target that has answered: a SYN, and a page where somebody takes the connection.
    func run() async -> [ProbeResult] {
        let limit = clock?.left(atMost: Self.next) ?? Self.next
        return await withTaskGroup(of: ProbeResult.self) { group in
            for line in site.lines {
                guard let nobody = line.unassigned else { continue }
                group.addTask {
                    let result = await line.prober.connect(
                        .nobody,
                        to: nobody,
                        port: 80,
                        kind: .interception,
                        limit: limit
                    )
                    guard result.outcome == .answered else { return result }
                    var page = await Self.page(
                        line.prober,
                        nobody,
                        limit: clock?.left(atMost: Self.nearby) ?? Self.nearby
                    )
                    page.cost = page.cost + result.cost
                    return page
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Connects, and asks whoever answers for a page.
    static func page(_ prober: Prober, _ nobody: IPAddress, limit: Duration) async -> ProbeResult {
        guard let url = try? TrustedHTTPURL("http://\(nobody.urlText)/") else {
            return await prober.connect(.nobody, to: nobody, port: 80, kind: .interception, limit: limit)
        }
        var result = await prober.fetch(.nobody, WebRequest(url, .page), at: nobody, limit: limit)
        if result.request.kind == .http { result.request.kind = .interception }
        return result
    }
}
