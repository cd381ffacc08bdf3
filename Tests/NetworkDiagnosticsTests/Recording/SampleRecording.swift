import Foundation
import NetworkDiagnostics
import NetworkReachability

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

    /// The recordings of real namespaces, by the names of their files.
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
