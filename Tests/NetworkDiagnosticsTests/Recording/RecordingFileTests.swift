import Foundation
import LinuxPrimitives
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
        let recorder = Recorder(SampleRecording.header, limit: 2000) {
            reached.withLock { $0 += 1 }
        } write: { more in
            bytes.withLock { $0 += more }
        }
        for _ in 0..<1000 { recorder.received([UInt8](repeating: 0, count: 50), from: 0) }
        recorder.finish()
        let all = bytes.withLock { $0 }
        #expect(reached.withLock { $0 } == 1)
        #expect((1800...2000).contains(all.count))
        let recording = try Recording(all)
        #expect(recording.damage == nil)
        #expect(recording.records.last?.content == .end(.limit))
    }
}
