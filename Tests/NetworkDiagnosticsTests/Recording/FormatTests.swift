import Dispatch
import Foundation
import LinuxSupport
import Netlink
import NetworkReachability
import TestSupport
import Testing

@testable import NetworkDiagnostics

/// Written recordings can be read, and other files are rejected.
@Suite struct FormatTests {
    @Test func `the checksum is CRC-32`() {
        // The usual test value for nine digits, and zlib's result for zeros.
        #expect(Checksum.of(Array("123456789".utf8)) == 0xcbf4_3926)
        #expect(Checksum.of([UInt8](repeating: 0, count: 32)) == 0x190a_55ad)
    }

    @Test func `a written recording can be read`() throws {
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

    @Test func `written values can be read`() {
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

    @Test func `written far ends of tunnels can be read`() throws {
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
        #expect(try Recording(SampleRecording.bytes(of: records)).records == records)
    }

    @Test func `a large reply is stored as several packets of complete messages`() throws {
        let message = [UInt8](repeating: 0, count: 1101)
        var bytes: [UInt8] = []
        for _ in 0..<300 { bytes += [77, 4, 0, 0] + message.dropFirst(4) + [0, 0, 0] }
        let packets = Record.packets(of: bytes)
        #expect(packets.count == 6)
        #expect(packets.allSatisfy { $0.count <= 65536 && $0.count % 1104 == 0 })
        #expect(Array(packets.joined()) == bytes)
        #expect(Record.packets(of: []) == [])
    }

    @Test func `a file that is not a recording is rejected`() {
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
        // Like a copy that converts line ends.
        #expect(failure(head.filter { $0 != 13 }) == .notARecording)
        let order = Array(head[8..<12].reversed())
        #expect(failure(Array(head[..<8] + order + head[12...])) == .otherByteOrder)
        #expect(failure([0x89] + Array("NLREC\r\n".utf8) + [1]) == .oldFormat)
    }

    @Test func `a truncated file is read up to its last complete record`() throws {
        let whole = SampleRecording.bytes(of: SampleRecording.records)
        let head = RecordingEncoder.head(SampleRecording.header)
        for count in head.count..<whole.count {
            let recording = try Recording(Array(whole.prefix(count)))
            let damage = try #require(recording.damage)
            #expect(recording.records.elementsEqual(SampleRecording.records.prefix(recording.records.count)))
            #expect(damage.offset <= count)
            // Every complete record is read.
            #expect(SampleRecording.bytes(of: recording.records).count == damage.offset)
            #expect((damage.offset == count) == (damage.cause == "the recording was not finished"))
        }
    }

    @Test func `one wrong bit is reported at its position`() throws {
        let whole = SampleRecording.bytes(of: SampleRecording.records)
        let head = RecordingEncoder.head(SampleRecording.header)
        for position in head.count..<whole.count {
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            let recording = try Recording(bytes)
            guard let damage = recording.damage else {
                // The time of a packet is earlier than that of the next record in any case.
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

/// No content of a file crashes the reader or prevents its end.
@Suite struct DamageTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `random damage of a real recording never crashes the reader`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for (name, whole) in try SampleRecording.real.sorted(by: { $0.key < $1.key }) {
            let count = try Recording(whole).records.count
            for _ in 0..<6 {
                let bytes = DamagedBytes.make(from: whole, using: &generator)
                guard let recording = try? Recording(bytes) else { continue }
                #expect(recording.records.count <= count + 4, "\(name)")
                if let damage = recording.damage { #expect((0...bytes.count).contains(damage.offset)) }
            }
        }
    }

    /// Damage that a checksum detects is harmless, so the records themselves are changed.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func `a recording with lost, changed and duplicate records is played to its end`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for (_, whole) in try SampleRecording.real.sorted(by: { $0.key < $1.key }) {
            var recording = try Recording(whole)
            recording.records = recording.records.flatMap { record -> [Record] in
                // Without its end it is an incomplete recording.
                if record.note?.kind == .end { return [record] }
                return switch Int.random(in: 0..<40, using: &generator) {
                case 0: []
                case 1: [record, record]
                case 2: [Self.changed(record, &generator)]
                default: [record]
                }
            }
            // Through a file, which must contain all records.
            recording = try Recording(recording.bytes)
            #expect(recording.damage == nil)
            let (lines, _) = try PlayedLines.play(recording)
            #expect(try PlayedLines.play(recording).lines == lines)
            #expect(try PlayedLines.play(Redactor(key: (seed, 1)).redacted(recording)).lines.count >= 0)
        }
    }

    private static func changed(_ record: Record, _ generator: inout SeededGenerator) -> Record {
        var record = record
        switch record.content {
        case .messages(let path, let bytes):
            record.content = .messages(path, DamagedBytes.make(from: bytes, using: &generator))
        case .note(let note):
            let text = Array((Bool.random(using: &generator) ? note.value : note.subject).utf8)
            let damaged = DamagedBytes.make(from: text, using: &generator)
            record.content = .note(Note(note.kind, note.subject, String(decoding: damaged, as: UTF8.self)))
        }
        return record
    }
}

/// Recordings for tests.
enum SampleRecording {
    /// A recording with a record of every kind.
    static var everything: Recording {
        get throws { try Recording(bytes(of: records)) }
    }

    static let header: RecordingHeader = {
        var options = NetworkReachabilityOptions()
        options.firewallMark = 77
        options.addressesAtLarge = ["198.51.100.1"].compactMap { IPAddress($0) }
        return RecordingHeader(
            hosts: ["example.org", "192.0.2.1"],
            namespace: "blue",
            options: options,
            version: "1.2.3",
            start: RecordedMoment(real: .seconds(1_700_000_000), monotonic: .seconds(10), boot: .seconds(12))
        )
    }()

    static let request: [UInt8] = [20, 0, 0, 0, 18, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]

    static let records: [Record] = [
        Record(.connect, at: .seconds(11)),
        Record(.start, at: .seconds(12)),
        Record(.lookup, "example.org", "1", at: .seconds(12)),
        Record(.messages(.event, [20, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]), at: .seconds(13)),
        Record(.loss, at: .seconds(13)),
        Record(.events, at: .seconds(13)),
        Record(.messages(.request, request), at: .seconds(13)),
        Record(.messages(.reply, request), at: .seconds(13)),
        Record(.messages(.request, request), at: .seconds(13)),
        Record(.failure, "", "105 socket read the kernel's answer", at: .seconds(13)),
        Record(.timer, "", "300", at: .seconds(14)),
        Record(.resolved, "1", "::1%3 192.0.2.7", at: .seconds(15)),
        Record(.resolved, "2", "no such name", at: .seconds(15)),
        Record(.resolved, "3", "unavailable: no name server", at: .seconds(15)),
        Record(.namespaceChanged, at: .seconds(16)),
        Record(.clock, "", "1700000100000000000 99000000000", at: .seconds(17)),
        Record(.wake, at: .seconds(17)),
        Record(.namesChanged, at: .seconds(18)),
        Record(.end, "", "on demand", at: .seconds(19)),
    ]

    static func bytes(of records: [Record]) -> [UInt8] {
        var encoder = RecordingEncoder(header)
        return records.reduce(into: RecordingEncoder.head(header)) { $0 += encoder.bytes(of: $1) }
    }

    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Recordings")

    /// The recordings of real namespaces, by file name.
    static var real: [String: [UInt8]] {
        get throws {
            var files: [String: [UInt8]] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                guard name.hasSuffix(".nlrec") else { continue }
                files[name] = Array(try Data(contentsOf: directory.appendingPathComponent(name)))
            }
            return files
        }
    }
}
