import Dispatch
import Foundation
import LinuxSupport
import Netlink
import Testing

@testable import NetworkDiagnostics

/// The file that is written, and what happens when it cannot be.
@Suite struct RecordingFileTests {
    private static func path() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    }

    @Test func `everything is in the file in its order, for its owner alone`() throws {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try RecordingFile(path, replacing: false) { Issue.record("nothing fails") }
        for number in 0..<1000 { file.write([UInt8(truncatingIfNeeded: number)]) }
        try file.finish()
        #expect(try InputFile.read(path) == (0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(file.size == 1000)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a file that is there is replaced only on demand, and then nobody else may read it`() throws {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data("old".utf8)))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: SystemError.fileExists) { _ = try RecordingFile(path, replacing: false) {} }
        let file = try RecordingFile(path, replacing: true) {}
        file.write([1])
        try file.finish()
        #expect(try InputFile.read(path) == [1])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a full disk is told once, and at the end`() throws {
        let failures = Locked(0)
        let file = try RecordingFile("/dev/full", replacing: true) { failures.withLock { $0 += 1 } }
        for _ in 0..<10 {
            file.write([1])
            #expect(throws: SystemError.noSpace) { try file.finish() }
        }
        #expect(failures.withLock { $0 } == 1)
        #expect(file.size == 0)
    }

    @Test func `a recorder never goes beyond its limit, and its end fits`() throws {
        let bytes = Locked<[UInt8]>([])
        let reached = Locked(0)
        let limit = Recorder.leastLimit(SampleRecording.header, redactor: nil) + 2000
        let recorder = Recorder(SampleRecording.header, limit: limit) {
            reached.withLock { $0 += 1 }
        } write: { more in
            bytes.withLock { $0 += more }
        }
        for _ in 0..<1000 { recorder.received([UInt8](repeating: 0, count: 50), from: 0) }
        recorder.finish()
        let all = bytes.withLock { $0 }
        #expect(reached.withLock { $0 } == 1)
        #expect((limit - 300...limit).contains(all.count))
        let recording = try Recording(all)
        #expect(recording.damage == nil)
        #expect(recording.records.last?.note == Note(.end, "", "at its limit"))
    }

    @Test func `a clock that is set is recorded before the next turn, and no other difference`() throws {
        let bytes = Locked<[UInt8]>([])
        let now = Locked(SampleRecording.header.start)
        let recorder = Recorder(SampleRecording.header, limit: 1 << 20, clock: { now.withLock { $0 } }) {
            Issue.record("there is space")
        } write: { more in
            bytes.withLock { $0 += more }
        }
        let queue = DispatchQueue(label: "test")
        func turn(real: Duration, monotonic: Duration) {
            now.withLock { now in
                now.real += real
                now.monotonic += monotonic
                now.boot += monotonic
            }
            recorder.begin(on: queue) {}
        }
        turn(real: .seconds(5), monotonic: .seconds(5))
        turn(real: .microseconds(900), monotonic: .zero)
        turn(real: .seconds(-60), monotonic: .seconds(1))
        turn(real: .seconds(1), monotonic: .seconds(1))
        recorder.finish()
        let notes = try Recording(bytes.withLock { $0 }).records.compactMap(\.note)
        #expect(notes.map(\.kind) == [.start, .start, .clock, .start, .start, .end])
        #expect(recorder.moment() == now.withLock { $0 })
    }
}
