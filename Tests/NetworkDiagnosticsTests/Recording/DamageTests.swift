import Dispatch
import Netlink
import NetworkReachability
import TestSupport
import Testing

@testable import NetworkDiagnostics

/// Whatever a file holds, nothing crashes and everything ends.
@Suite struct DamageTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `random damage of a real recording never crashes the reader`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for (name, whole) in try SampleRecording.real.sorted(by: { $0.key < $1.key }) {
            let count = try Recording(whole).records.count
            for _ in 0..<6 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...4, using: &generator) { Self.damage(&bytes, &generator) }
                guard let recording = try? Recording(bytes) else { continue }
                #expect(recording.records.count <= count + 4, "\(name)")
                if let damage = recording.damage { #expect((0...bytes.count).contains(damage.offset)) }
            }
        }
    }

    /// Damage that a checksum would find is no danger; so it is done to the records themselves, as a forger would.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func `a recording with records lost, changed and doubled is played to its end`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for (_, whole) in try SampleRecording.real.sorted(by: { $0.key < $1.key }) {
            var recording = try Recording(whole)
            recording.records = recording.records.flatMap { record -> [Record] in
                // Without its end it is a recording that was cut off.
                if record.note?.kind == .end { return [record] }
                return switch Int.random(in: 0..<40, using: &generator) {
                case 0: []
                case 1: [record, record]
                case 2: [Self.changed(record, &generator)]
                default: [record]
                }
            }
            // Through the file, which must hold all of it.
            recording = try Recording(recording.bytes)
            #expect(recording.damage == nil)
            let (lines, _) = try PlayedLines.play(recording)
            #expect(try PlayedLines.play(recording).lines == lines)
            #expect(try PlayedLines.play(Redactor(key: (seed, 1)).redacted(recording)).lines.count >= 0)
        }
    }

    private static func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[position] = .random(in: 0 ... .max, using: &generator)
        case 1: bytes.removeLast(bytes.count - position)
        case 2: bytes.remove(at: position)
        default: bytes.insert(.random(in: 0 ... .max, using: &generator), at: position)
        }
    }

    private static func changed(_ record: Record, _ generator: inout SeededGenerator) -> Record {
        var record = record
        switch record.content {
        case .messages(let path, var bytes):
            damage(&bytes, &generator)
            record.content = .messages(path, bytes)
        case .note(var note):
            var text = Array((Bool.random(using: &generator) ? note.value : note.subject).utf8)
            damage(&text, &generator)
            note = Note(note.kind, note.subject, String(decoding: text, as: UTF8.self))
            record.content = .note(note)
        }
        return record
    }
}
