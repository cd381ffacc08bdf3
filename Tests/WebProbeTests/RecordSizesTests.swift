import NIOCore
import Testing

@testable import ReachabilityChecks

/// How long records of TLS say that they are, however they are cut.
@Suite struct RecordSizesTests {
    @Test(arguments: [1, 2, 3, 5, 7, 64])
    func `records are followed`(portion: Int) {
        let lengths = [300, 0, 16_640, 5, 70]
        let stream = lengths.flatMap { length in
            [23, 3, 3, UInt8(length >> 8), UInt8(length & 255)] + [UInt8](repeating: 22, count: length)
        }
        var (sizes, seen) = (RecordSizes(), [Int]())
        for start in stride(from: 0, to: stream.count, by: portion) {
            let part = ByteBuffer(bytes: stream[start..<min(stream.count, start + portion)])
            let longest = sizes.take(part.readableBytesView)
            if longest > 0 { seen.append(longest) }
        }
        // Two may begin in one portion.
        #expect(portion == 64 ? seen.contains(16_640) : seen == lengths.filter { $0 > 0 }, "\(seen)")
    }
}
