import LinuxSupport
import Netlink
import Testing

@testable import NetworkDiagnostics

/// What is written can be read again, and nothing else passes for it.
@Suite struct FormatTests {
    @Test func `the checksum is CRC-32`() {
        // The customary nine digits, and zlib's result for zeros.
        #expect(Checksum.of(Array("123456789".utf8)) == 0xcbf4_3926)
        #expect(Checksum.of([UInt8](repeating: 0, count: 32)) == 0x190a_55ad)
    }

    @Test func `what is written is read`() throws {
        let recording = try SampleRecording.everything
        #expect(recording.header == SampleRecording.header)
        #expect(recording.records == SampleRecording.records)
        #expect(recording.damage == nil)
        #expect(recording.bytes == SampleRecording.bytes(of: SampleRecording.records))
    }

    @Test func `a control character in a value stays in its line`() throws {
        let records = [Record(.lookup, "a\nKIND=end", "1\u{1b}", at: .seconds(11)), SampleRecording.records[18]]
        let recording = try Recording(SampleRecording.bytes(of: records))
        #expect(recording.records == records)
        #expect(recording.records.first?.note?.subject == "a\\u{a}KIND=end")
    }

    @Test func `values are read as they were written`() {
        let hardware = LinkHardware(wireless: .station, deviceType: "wlan", driver: "iwl", lowerIndex: 9)
        #expect(LinkHardware(recorded: hardware.recorded) == hardware)
        #expect(LinkHardware(recorded: LinkHardware().recorded) == LinkHardware())
        let error = NetlinkError("enter /run/netns/x y", .notPermitted, stage: .namespace)
        #expect(NetlinkError(recorded: error.recorded) == error)
        #expect(NetlinkError(recorded: "") == nil)
        let results: [Result<[NameLookup.Address], NameLookup.Failure>] = [
            .success([]),
            .success([NameLookup.Address(.ipv6Loopback, zone: 3), NameLookup.Address(WireAddress(ipv4: 7))]),
            .failure(.noSuchName), .failure(.unavailable("unavailable: x")),
        ]
        for result in results { #expect(Result(recorded: result.recorded) == result) }
    }

    @Test func `far ends of tunnels are read as they were written`() throws {
        let end = WireAddress(family: .ipv6, bits: 0x2001_0db8 << 96 | 7)
        let lists: [[TunnelFarEnd]] = [
            [], [TunnelFarEnd(nil, accepting: [])],
            [
                TunnelFarEnd(nil, accepting: []),
                TunnelFarEnd(
                    end,
                    accepting: [AddressPrefix(end, length: 64), AddressPrefix(end, length: 0)],
                    mark: .max
                ),
            ],
        ]
        for list in lists { #expect([TunnelFarEnd](recorded: list.recorded) == list) }
        for text in [TunnelFarEnd.unknown, "192.0.2.1", "x,0", "192.0.2.1,-1", ",0,192.0.2.0", ",0,192.0.2.0/33"] {
            #expect([TunnelFarEnd](recorded: text) == nil)
        }
        let records = [Record(.peers, "7", lists[2].recorded, at: .seconds(11)), SampleRecording.records[18]]
        let recording = try Recording(SampleRecording.bytes(of: records))
        #expect(recording.records == records)
    }

    @Test func `a large reply is several packets of whole messages`() throws {
        let message = [UInt8](repeating: 0, count: 1101)
        var bytes: [UInt8] = []
        for _ in 0..<300 { bytes += [77, 4, 0, 0] + message.dropFirst(4) + [0, 0, 0] }
        let packets = Record.packets(of: bytes)
        #expect(packets.count == 6)
        #expect(packets.allSatisfy { $0.count <= 65536 && $0.count % 1104 == 0 })
        #expect(Array(packets.joined()) == bytes)
        #expect(Record.packets(of: []) == [])
    }

    @Test func `a file that is not a recording is refused`() {
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
        // A capture by another program.
        #expect(
            failure(CaptureBlock.section(system: "", program: "Dumpcap") + CaptureBlock.interface) == .notARecording
        )
        #expect(failure(Array(head.dropLast())) == .damagedHead)
        // As a copy that turns line ends around would.
        #expect(failure(head.filter { $0 != 13 }) == .notARecording)
        let order = Array(head[8..<12].reversed())
        #expect(failure(Array(head[..<8] + order + head[12...])) == .otherByteOrder)
        #expect(failure([0x89] + Array("NLREC\r\n".utf8) + [1]) == .oldFormat)
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

    @Test func `one wrong bit is found where it is, and in a time if that goes back`() throws {
        let whole = SampleRecording.bytes(of: SampleRecording.records)
        let head = RecordingEncoder.head(SampleRecording.header)
        for position in head.count..<whole.count {
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            let recording = try Recording(bytes)
            guard let damage = recording.damage else {
                // The time of a packet is earlier than that of the next record anyway.
                #expect(recording.records.map(\.content) == SampleRecording.records.map(\.content))
                continue
            }
            let next =
                SampleRecording.records.indices.map {
                    SampleRecording.bytes(of: Array(SampleRecording.records[...$0])).count
                }
                .first { $0 > position } ?? whole.count
            #expect(damage.offset <= next)
        }
    }
}
