import LinuxSupport
import Testing
import TrustForge

@testable import ServerTrust

/// Anchors are read when they are needed, and once.
@Suite struct AnchorTests {
    @Test func areReadAtFirstNeed() throws {
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

    @Test func theSameSourceIsEqualWithoutBeingRead() {
        let anchors = TrustAnchors {
            Issue.record("they were read")
            return AnchorIndex([TrustCertificate]())
        }
        let copy = anchors
        #expect(copy == anchors)
    }
}
