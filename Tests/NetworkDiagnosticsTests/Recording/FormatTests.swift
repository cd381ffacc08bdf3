import LinuxPrimitives
import Netlink
import Testing

@testable import NetworkDiagnostics

/// What is written can be read again, and nothing else passes for it.
@Suite struct FormatTests {
    @Test func `the checksum is CRC-32C`() {
        // RFC 3720, appendix B.4, and the customary nine digits.
        #expect(Checksum.of(Array("123456789".utf8)) == 0xe306_9283)
        #expect(Checksum.of([UInt8](repeating: 0, count: 32)) == 0x8a91_36aa)
        #expect(Checksum.of([UInt8](repeating: 0xff, count: 32)) == 0x62a8_ab43)
        #expect(Checksum.of(Array(0..<32)) == 0x46dd_794e)
    }

    @Test func `what is written is read`() throws {
        let recording = try SampleRecording.everything
        #expect(recording.header == SampleRecording.header)
        #expect(recording.records == SampleRecording.records)
        #expect(recording.damage == nil)
        #expect(recording.bytes == SampleRecording.bytes(of: SampleRecording.records))
    }

    @Test func `numbers are as short as they can be, and never too long`() throws {
        for number in [0, 1, 127, 128, 300, 1 << 32, .max - 1, .max] as [UInt64] {
            var encoder = ByteEncoder()
            encoder.add(number: number)
            #expect(encoder.bytes.count == max(1, (64 - number.leadingZeroBitCount + 6) / 7))
            var decoder = ByteDecoder(encoder.bytes[...])
            #expect(try decoder.number() == number)
        }
        for bytes in [[], [0x80], [UInt8](repeating: 0xff, count: 10), [UInt8](repeating: 0x80, count: 11)] as [[UInt8]]
        {
            var decoder = ByteDecoder(bytes[...])
            #expect(throws: ByteDecoder.Malformed.self) { try decoder.number() }
        }
    }

    @Test func `far ends of tunnels are read as they were written`() throws {
        let end = WireAddress(family: .ipv6, bits: 0x2001_0db8 << 96 | 7)
        let lists: [[TunnelFarEnd]?] = [
            nil, [],
            [
                TunnelFarEnd(nil, accepting: []),
                TunnelFarEnd(
                    end,
                    accepting: [AddressPrefix(end, length: 64), AddressPrefix(end, length: 0)],
                    mark: .max
                ),
            ],
        ]
        for list in lists {
            var encoder = ByteEncoder()
            encoder.add(list)
            var decoder = ByteDecoder(encoder.bytes[...])
            #expect(try decoder.farEnds() == list)
            var short = ByteDecoder(encoder.bytes.dropLast()[...])
            #expect(throws: ByteDecoder.Malformed.self) { _ = try short.farEnds() }
        }
    }

    @Test func `what is no recording says so`() {
        let head = RecordingEncoder.head(SampleRecording.header)
        func failure(_ bytes: [UInt8]) -> Recording.Failure? {
            do throws(Recording.Failure) {
                _ = try Recording(bytes)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure([]) == .notARecording)
        #expect(failure(Array("#!/bin/sh\n".utf8)) == .notARecording)
        #expect(failure(Array(head.prefix(8))) == .notARecording)
        #expect(failure(Array(head.prefix(8)) + [2] + head.dropFirst(9)) == .unknownVersion(2))
        #expect(failure(Array(head.dropLast())) == .damagedHead)
        // As a copy that turns line ends around would.
        #expect(failure(head.filter { $0 != 13 }) == .notARecording)
    }

    @Test func `a file that ends early is read up to there, wherever it is cut`() throws {
        let whole = SampleRecording.bytes(of: SampleRecording.records)
        let head = RecordingEncoder.head(SampleRecording.header)
        for count in head.count..<whole.count {
            let recording = try Recording(Array(whole.prefix(count)))
            let damage = try #require(recording.damage)
            #expect(recording.records.elementsEqual(SampleRecording.records.prefix(recording.records.count)))
            #expect(damage.offset <= count)
            // Every record that is whole is read.
            #expect(SampleRecording.bytes(of: recording.records).count == damage.offset)
            #expect((damage.offset == count) == (damage.cause == "it ends before it was finished"))
        }
    }

    @Test func `one wrong bit is found where it is`() throws {
        let whole = SampleRecording.bytes(of: SampleRecording.records)
        let head = RecordingEncoder.head(SampleRecording.header)
        for position in head.count..<whole.count {
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            let damage = try #require(try Recording(bytes).damage)
            #expect(damage.offset <= position)
        }
    }
}
