import Foundation
import NetworkLab
import TestSupport
import Testing

@testable import Netlink

/// The decoders against messages that no kernel sends: whatever comes, they neither trap nor read too far.
///
/// DECODER_SEED repeats the cases of a failed run. CHECK_MUTATIONS sets the number of cases.
@Suite struct DecoderTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["DECODER_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    private static let cases = MutationCount.value

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `real messages are understood`() async throws {
        let counts = try await LabThread.detached {
            try DecoderCapture.datagrams().reduce(into: DecoderCounts()) { $0.count($1) }
        }
        // u0, far, lo and b0; tunnels where the kernel has them.
        #expect(counts.links >= 4)
        #expect(counts.routes >= 20)
        #expect(counts.multipathRoutes >= 2)
        // Five of the kernel's own, four of ours and what the group announced.
        #expect(counts.rules >= 9)
        #expect(counts.neighbours >= 2)
        #expect(counts.prefixes >= 10)
        #expect(counts.events + counts.ignored == counts.datagrams)
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `spoiled messages never trap`() async throws {
        print("decoders: \(Self.cases) cases, DECODER_SEED=\(Self.seed)")
        let decoded = try await LabThread.detached {
            let datagrams = try DecoderCapture.datagrams()
            let messages = datagrams.flatMap(Self.messages) + datagrams.prefix(64)
            var mutator = DecoderMutator(seed: Self.seed)
            var counts = DecoderCounts()
            for _ in 0..<Self.cases {
                guard let message = messages.randomElement(using: &mutator) else { break }
                counts.count(mutator.spoiled(message, with: messages))
            }
            return counts
        }
        // Spoiled, not destroyed: much is still decoded, so the decoders' depths were reached.
        print("decoders: \(decoded)")
        #expect(decoded.datagrams == Self.cases)
        #expect(decoded.links > 0 && decoded.routes > 0 && decoded.prefixes > 0)
        #expect(decoded.rules > 0 && decoded.neighbours > 0)
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `every truncation of every kind is survived`() async throws {
        try await LabThread.detached {
            var kinds: Set<UInt32> = []
            var counts = DecoderCounts()
            for message in try DecoderCapture.datagrams().flatMap(Self.messages) {
                // One of each kind and size is enough.
                guard message.count > 5 else { continue }
                let kind = UInt32(message[4]) | UInt32(message[5]) << 8 | UInt32(message.count) << 16
                guard kinds.insert(kind).inserted else { continue }
                for length in 0...message.count { counts.count(Array(message.prefix(length))) }
            }
            #expect(counts.datagrams > 1000)
        }
    }

    /// The single messages of a datagram.
    @Sendable private static func messages(_ datagram: [UInt8]) -> [[UInt8]] {
        datagram.withUnsafeBytes { bytes in
            var messages: [[UInt8]] = []
            var rest = bytes
            while let header = MessageHeader(rest) {
                messages.append(Array(rest.bytes(from: 0, length: header.length)))
                rest = rest.bytes(from: header.length.alignedToAttribute)
            }
            return messages
        }
    }
}
