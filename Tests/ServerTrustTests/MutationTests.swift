import Foundation
import ServerTrust
import TestSupport
import Testing
import TrustForge

/// Good certificates with random damage: never a crash, never trusted. `SERVER_TRUST_MUTATIONS` is how many, 100000 for a release.
@Suite struct MutationTests {
    private static let count = ProcessInfo.processInfo.environment["SERVER_TRUST_MUTATIONS"].flatMap { Int($0) } ?? 4000

    @Test(arguments: [UInt64(1), 2])
    func damagedCertificatesAreRefused(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let chains = [
            ([World.leaf.der, World.intermediate.der], World.root),
            ([World.rsaLeaf.der, World.rsaIntermediate.der], World.rsaRoot),
        ]
        for round in 0..<Self.count / 2 {
            let (good, root) = chains[round % 2]
            var sent = good
            let place = Int.random(in: 0..<sent.count, using: &generator)
            sent[place] = DamagedBytes.make(from: sent[place], using: &generator)
            guard sent != good else { continue }
            let trust = TrustCase("damaged") {
                $0.sent = sent
                $0.trust(root)
            }
            let verdict = trust.verdict()
            guard verdict == .trusted else { continue }
            Issue.record("seed \(seed), round \(round): trusted \(Data(sent[place]).base64EncodedString())")
        }
    }

    @Test func damagedAnchorsAreReadOrLeftOut() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<Self.count / 10 {
            let bytes = DamagedBytes.make(from: World.root.der, using: &generator)
            _ = try? TrustCertificate(derEncoded: bytes)
        }
    }

    @Test func damagedTextsAreReadOrRefused() {
        var generator = SeededGenerator(seed: 4)
        let texts = [
            "bücher.example.org", "[2001:db8::1%eth0]", "192.0.2.1", "**.example.org", "xn--bcher-kva.example",
        ]
        for round in 0..<Self.count {
            let bytes = DamagedBytes.make(from: Array(texts[round % texts.count].utf8), using: &generator)
            let text = String(decoding: bytes, as: UTF8.self)
            guard let host = try? ServerHost(text) else { continue }
            // What was read is read again as the same.
            #expect((try? ServerHost(host.description)) == host, "\(text)")
        }
    }
}
