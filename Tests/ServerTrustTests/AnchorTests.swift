import LinuxSupport
import Testing
import TrustForge

@testable import ServerTrust

/// Anchors are read once, at their first use.
@Suite struct AnchorTests {
    @Test func `anchors are read once, at the first evaluation that needs them`() throws {
        let count = Locked(0)
        let anchors = TrustAnchors {
            count.withLock { $0 += 1 }
            return AnchorIndex([World.root.certificate])
        }
        var trust = try ServerTrust([World.leaf, World.intermediate], anchors: [])
        trust.anchors = anchors
        try DisabledTrustEvaluator().evaluate(trust, forHost: World.host)
        let more = anchors.adding([World.rsaRoot.certificate])
        #expect(count.withLock { $0 } == 0)

        try DefaultTrustEvaluator().evaluate(trust, forHost: World.host)
        try DefaultTrustEvaluator().evaluate(trust, forHost: World.host)
        #expect(more.count == 2)
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `copies of anchors are equal without being read`() {
        let anchors = TrustAnchors {
            Issue.record("the anchors were read")
            return AnchorIndex([TrustCertificate]())
        }
        let copy = anchors
        #expect(copy == anchors)
    }
}
