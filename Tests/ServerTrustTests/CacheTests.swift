import Testing
import TrustForge

@testable import ServerTrust

@Suite struct CacheTests {
    private static func trust(
        _ cache: ValidatedChainCache,
        _ change: (inout ServerTrust) -> Void = { _ in }
    ) throws -> ServerTrust {
        var trust = try TrustCase("good") { _ in }.trust(cache: cache)
        change(&trust)
        return trust
    }

    private static func isTrusted(_ trust: ServerTrust, _ host: String = World.host) -> Bool {
        DefaultTrustEvaluator().reason(trust, forHost: host) == nil
    }

    @Test func `a cached chain is not used for another host, anchor, time or requirement`() throws {
        let cache = ValidatedChainCache()
        #expect(Self.isTrusted(try Self.trust(cache)))
        #expect(cache.count == 1)
        #expect(Self.isTrusted(try Self.trust(cache)))
        #expect(cache.count == 1)
        #expect(!Self.isTrusted(try Self.trust(cache), "example.com"))
        #expect(!Self.isTrusted(try Self.trust(cache) { $0.anchors = TrustAnchors([World.strangeRoot.certificate]) }))
        #expect(!Self.isTrusted(try Self.trust(cache) { $0.time = World.ends.advanced(by: .seconds(1)) }))
        #expect(!Self.isTrusted(try Self.trust(cache) { $0.time = World.begins.advanced(by: .seconds(-1)) }))
        #expect(!Self.isTrusted(try Self.trust(cache) { $0.requirements.maximumChainLength = 2 }))
    }

    @Test func `failures are not cached`() throws {
        let cache = ValidatedChainCache()
        #expect(!Self.isTrusted(try Self.trust(cache) { $0.time = World.ends.advanced(by: .seconds(1)) }))
        #expect(cache.count == 0)
    }

    @Test func `an entry is removed if it is too old or newer than the time of the trust`() throws {
        let cache = ValidatedChainCache(maximumAge: .seconds(10))
        let trust = try Self.trust(cache)
        #expect(Self.isTrusted(trust))
        // An entry is removed if it is too old, or newer than the time of the trust.
        for offset in [Int64(11), -1] {
            var other = trust
            other.time = World.now.advanced(by: .seconds(offset))
            #expect(cache.chain(for: other) == nil)
            #expect(cache.count == 0)
            #expect(Self.isTrusted(trust))
            #expect(cache.count == 1)
        }
        var last = trust
        last.time = World.now.advanced(by: .seconds(10))
        #expect(cache.chain(for: last) != nil)
        cache.removeAll()
        #expect(cache.count == 0)
    }

    @Test func `the cache does not exceed its capacity`() throws {
        let cache = ValidatedChainCache(capacity: 4)
        for index in 0..<20 {
            let trust = try Self.trust(cache) { $0.requirements.maximumNameComparisons = 1000 + index }
            #expect(Self.isTrusted(trust))
            #expect(cache.count <= 4)
        }
        let none = ValidatedChainCache(capacity: 0)
        #expect(Self.isTrusted(try Self.trust(none)))
        #expect(none.count == 0)
    }
}
