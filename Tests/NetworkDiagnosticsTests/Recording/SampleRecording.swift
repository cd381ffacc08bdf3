import Foundation
import LinuxPrimitives
import NetworkDiagnostics

/// Recordings for tests.
enum SampleRecording {
    /// One with a record of every kind, and of nobody.
    static var everything: Recording {
        get throws { try Recording(bytes(of: records)) }
    }

    static let header = RecordingHeader(
        version: "1.2.3",
        kernel: "6.1.0",
        hosts: ["example.org", "192.0.2.1"],
        namespace: "blue",
        mark: 77,
        filtersRoutes: true,
        addressesAtLarge: ["198.51.100.1"],
        nameRefreshInterval: .seconds(300),
        start: RecordedMoment(real: .seconds(1_700_000_000), monotonic: .seconds(10), boot: .seconds(12))
    )

    static let records: [Record] = [
        Record(.asked(RecordedQuestion(.connect), answer: [0]), at: .seconds(11)),
        Record(.turn(.start), at: .seconds(12)),
        Record(.asked(RecordedQuestion(.resolve, Array("example.org".utf8)), answer: [1]), at: .seconds(12)),
        Record(.message([20, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4], port: 0), at: .seconds(13)),
        Record(.lost, at: .seconds(13)),
        Record(.turn(.rung(noticed: .seconds(13))), at: .seconds(13)),
        Record(.turn(.rung(noticed: nil)), at: .seconds(13)),
        Record(.turn(.fired(300)), at: .seconds(14)),
        Record(.turn(.resolved(1, .addresses([NameLookup.Address(.ipv6Loopback, zone: 3)]))), at: .seconds(15)),
        Record(.turn(.resolved(2, .noSuchName)), at: .seconds(15)),
        Record(.turn(.resolved(3, .unavailable("no name server"))), at: .seconds(15)),
        Record(.turn(.namespaceChanged), at: .seconds(16)),
        Record(.turn(.woke), at: .seconds(17)),
        Record(.turn(.namesChanged), at: .seconds(18)),
        Record(.end(.limit), at: .seconds(19)),
    ]

    static func bytes(of records: [Record]) -> [UInt8] {
        var encoder = RecordingEncoder(header)
        return records.reduce(into: RecordingEncoder.head(header)) { $0 += encoder.frame($1) }
    }

    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Recordings")

    /// Those of real namespaces, by the names of their files.
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
