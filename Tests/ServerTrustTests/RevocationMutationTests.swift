import Foundation
import TestSupport
import Testing
import TrustForge

@testable import ServerTrust

/// Responses and lists with random damage: never a crash, and what says revoked never says good. `SERVER_TRUST_MUTATIONS` is how many.
@Suite struct RevocationMutationTests {
    private static let count = ProcessInfo.processInfo.environment["SERVER_TRUST_MUTATIONS"].flatMap { Int($0) } ?? 4000
    private static let flags: RevocationFlags = [.any, .requirePositiveResponse]

    private static func trust() throws -> (ServerTrust, ValidatedChain) {
        let trust = try ServerTrust([RevocationWorld.plain], anchors: [RevocationWorld.authority])
        return (trust, try trust.validatedChain(forHost: World.host))
    }

    /// Of the signed bytes nothing can be changed unseen; what is outside, a certificate that is not needed for example, can.
    @Test(arguments: [UInt64(1), 2])
    func damagedResponses(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var (trust, chain) = try Self.trust()
        var good = ForgedResponse()
        good.delegate(to: RevocationWorld.delegate())
        var revoked = good
        revoked.revoke()
        var other = good
        other.serialNumber = [9, 9]
        let kinds = [good.der(), revoked.der(), ForgedResponse().der(), other.der()]
        for round in 0..<Self.count {
            let bytes = DamagedBytes.make(from: kinds[round % kinds.count], using: &generator)
            guard bytes != kinds[round % kinds.count] else { continue }
            trust.stapledOCSPResponse = bytes
            let status = RevocationChecker().knownStatus(of: chain, in: trust, flags: Self.flags)
            guard status == .good else { continue }
            // Only the two that said good before may say so now, and only for damage to what is not signed.
            guard round % 2 == 0, Self.saysTheSame(bytes, as: kinds[round % kinds.count]) else {
                Issue.record("seed \(seed), round \(round): good \(Data(bytes).base64EncodedString())")
                continue
            }
        }
    }

    @Test(arguments: [UInt64(3), 4])
    func damagedLists(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (trust, chain) = try Self.trust()
        var revoked = ForgedList()
        revoked.revoke(World.strangeLeaf)
        revoked.revoke()
        let kinds = [ForgedList().der(), revoked.der(), ForgedList(key: .p256("pretender")).der()]
        for round in 0..<Self.count {
            let bytes = DamagedBytes.make(from: kinds[round % kinds.count], using: &generator)
            guard bytes != kinds[round % kinds.count] else { continue }
            guard let list = try? RevocationList(derEncoded: bytes, name: "damaged") else { continue }
            let status = RevocationChecker(lists: [list]).knownStatus(of: chain, in: trust, flags: Self.flags)
            guard status == .good else { continue }
            Issue.record("seed \(seed), round \(round): good \(Data(bytes).base64EncodedString())")
        }
    }

    private static func saysTheSame(_ bytes: [UInt8], as good: [UInt8]) -> Bool {
        guard let damaged = try? OCSPResponse(der: bytes), let good = try? OCSPResponse(der: good) else { return false }
        return damaged.data.producedAt == good.data.producedAt && damaged.data.responder == good.data.responder
            && damaged.data.responses.map(\.status) == good.data.responses.map(\.status)
            && damaged.data.responses.map(\.id) == good.data.responses.map(\.id)
    }
}
