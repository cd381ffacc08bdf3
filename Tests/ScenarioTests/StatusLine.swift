import Foundation
import NetworkLab

/// One line of `reachability status --json` and `reachability watch --json`.
struct StatusLine: Decodable {
    let schema: Int
    let time: String
    let monotonicNanoseconds: UInt64
    let target: String?
    let status: String
    let connectionType: String?
    let flags: [String]
    let interface: String?
    let interfaceType: String?
    let gateway: String?
    let source: String?
    let reason: String?
    let generation: UInt64

    init(parsing text: some StringProtocol) throws {
        do {
            self = try JSONDecoder().decode(StatusLine.self, from: Data(text.utf8))
        } catch {
            throw LabError("not a status line: \(text) (\(error))")
        }
        guard schema == 1, time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil else {
            throw LabError("not a status line of schema 1: \(text)")
        }
    }

    /// What is compared with the truth.
    var said: Expectation { Expectation(status: status, connectionType: connectionType) }

    /// The clock that `monotonicNanoseconds` is read from.
    static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
