/// Small packets pass, large ones are lost, and nobody says so (RFC 2923).
enum SegmentStage {
    static func judge(_ view: FamilyView) -> Finding? {
        finding(view.results.filter { $0.isAnchor || $0.isTarget })
    }

    static func finding(_ results: [ProbeResult]) -> Finding? {
        let small = results.filter { $0.kind == .mtu && $0.outcome == .answered }
        guard !small.isEmpty else { return nil }
        let size = small.compactMap(\.evidence.pathMTU).max().map { "; packets of \($0) bytes pass" } ?? ""
        return Finding(
            .upstream,
            .pathMTU,
            .proven,
            "large packets are lost on the way, small ones pass\(size)",
            small
        )
    }
}
