import Netlink

extension MonitorSession {
    /// Those of `records` whose path may be another than at the last look: all but those that leave the same way as before, over
    /// a link that is what it was. Of most, one lookup tells.
    ///
    /// Only for looks after which nothing else can have changed than links and routes to `changed`: then no other source address
    /// can have come to be chosen for the same way.
    mutating func unconfirmed(_ records: [TargetRecord], _ changed: ChangedPrefixes) -> [TargetRecord] {
        do {
            return try asking { evaluator throws(NetlinkError) in
                try evaluator.unconfirmed(records, changed)
            }
        } catch {
            // Whoever looks at them meets the same error.
            return records
        }
    }
}

extension PathEvaluator {
    fileprivate mutating func unconfirmed(
        _ records: [TargetRecord],
        _ changed: ChangedPrefixes
    ) throws(NetlinkError) -> [TargetRecord] {
        var ways = KnownWays()
        var isOpen = [Bool](repeating: true, count: records.count)
        var asked: [(index: Int, way: KnownWay)] = []
        var queries: [RouteQuery] = []
        asked.reserveCapacity(records.count)
        queries.reserveCapacity(records.count)
        for (index, record) in records.enumerated() {
            guard case .address(let address) = record.target.destination, !changed.mayConcern(address.wire),
                address.zone == nil, record.target.interface == .none, let path = record.settledPath?.value.shared
            else { continue }
            var inquiries = [Inquiry(address, mark: record.target.mark)]
            let way = try ways.way(of: path) { () throws(NetlinkError) in try evaluate(&inquiries).first?.path }
            guard let way else { continue }
            asked.append((index, way))
            queries.append(way.query(for: address.wire, mark: record.target.mark))
        }
        if asked.isEmpty { return records }
        for (asked, answer) in zip(asked, try links.routes(queries)) {
            isOpen[asked.index] = !asked.way.isConfirmed(by: answer)
        }
        return zip(records, isOpen).compactMap { record, isOpen in isOpen ? record : nil }
    }
}
